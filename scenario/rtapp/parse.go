package rtapp

import "errors"

// stdinBytes is how much of its standard input rt-app reads.
const stdinBytes = 4096

// Parse reads the scenario src; name stands in the messages only. The error is nil, an
// *Error, or several of them joined, at most 20; a mistake in the syntax is always alone.
// The warnings are told in either case. The File is nil where there is an error.
func Parse(name string, src []byte, o Options) (*File, []Warning, error) {
	n := &notes{file: name}
	if len(src) > mostBytes {
		return nil, nil, &Error{File: name, Msg: "a scenario of more than 16 MiB"}
	}
	n.text = string(src)
	root := &place{}
	if o.Stdin && len(src) > stdinBytes {
		n.warnf(stdinBytes, root, "rt-app reads only %d bytes of its standard input; give it this as a file", stdinBytes)
	}
	p := parser{scanner: scanner{text: n.text}, notes: n, workgen: o.Workgen}
	tree, err := p.root()
	if err != nil {
		n.errors = nil
		var s *syntaxError
		if errors.As(err, &s) {
			n.errorf(s.off, root, "%s", s.msg)
		}
		return finish(nil, n)
	}
	return finish(n.read(&tree, root, o), n)
}

// finish returns f unless there are errors.
func finish(f *File, n *notes) (*File, []Warning, error) {
	warnings, err := n.result()
	if err != nil {
		return nil, warnings, err
	}
	return f, warnings, nil
}

// read turns the tree into a File.
func (n *notes) read(tree *value, at *place, o Options) *File {
	f := &File{Name: n.file}
	if tree.kind != object {
		n.errorf(tree.off, at, "a scenario must be an object, not %s", tree.describe())
		return f
	}
	m := n.membersOf(tree, at)
	f.Global = n.global(m.take("global"), at.member("global"))
	f.Resources = n.resources(m.take("resources"), at.member("resources"))
	// In front of the tasks: it says how many CPUs there are.
	if v := m.take("whylate"); v != nil {
		f.Whylate = n.whylate(v, at.member("whylate"), o)
	}
	f.Tasks = n.tasks(m, f)
	n.check(f)
	m.take("$schema") // names the JSON Schema of this file, for editors
	m.ignored()
	return f
}
