package sched

import "github.com/whylate/whylate/event"

// tree keeps tasks, or entities of the fair class, in the order of a key, equal ones by
// arrival, as the kernel's red-black trees do. Each node knows the least value and the least slice below it. It is a treap: the shape is random but
// for a given sequence of operations always the same. The zero tree is empty.
type tree struct {
	root  *node
	first *node // leftmost
	n     int
	seq   uint64
	noise uint64
}

// node is the place of a task in a tree.
type node struct {
	task            *Task        // nil: a group
	se              *schedEntity // in a tree of the fair class
	up, left, right *node
	key             int64
	seq             uint64
	weight          uint64 // a parent's is the greater
	value, least    int64  // of it, and the least one in its subtree
	slice           event.Time
	leastSlice      event.Time // likewise
	in              bool
}

// pull computes the least value and slice of n anew.
func (n *node) pull() {
	n.least, n.leastSlice = n.value, n.slice
	if l := n.left; l != nil {
		n.least, n.leastSlice = min(n.least, l.least), min(n.leastSlice, l.leastSlice)
	}
	if r := n.right; r != nil {
		n.least, n.leastSlice = min(n.least, r.least), min(n.leastSlice, r.leastSlice)
	}
}

// pullUp does so from n to the root.
func (n *node) pullUp() {
	for ; n != nil; n = n.up {
		n.pull()
	}
}

func (n *node) before(o *node) bool {
	return n.key < o.key || n.key == o.key && n.seq < o.seq
}

// head returns the first task, nil if the tree is empty.
func (t *tree) head() *Task {
	if t.first == nil {
		return nil
	}
	return t.first.task
}

// insert puts n behind all that have its key or a smaller one.
func (t *tree) insert(n *node, key int64) { t.insertValue(n, key, 0, 0) }

// insertValue is insert of a node with a value and a slice.
func (t *tree) insertValue(n *node, key, value int64, slice event.Time) {
	n.value, n.least = value, value
	n.slice, n.leastSlice = slice, slice
	t.seq++
	t.n++
	t.noise = t.noise*6364136223846793005 + 1442695040888963407
	n.key, n.seq, n.weight, n.in = key, t.seq, t.noise>>11, true
	n.up, n.left, n.right = nil, nil, nil
	if t.root == nil {
		t.root, t.first = n, n
		return
	}
	leftmost := true
	for at := t.root; ; {
		next := &at.left
		if at.key <= key {
			next, leftmost = &at.right, false
		}
		if *next == nil {
			*next, n.up = n, at
			break
		}
		at = *next
	}
	if leftmost {
		t.first = n
	}
	for at := n.up; at != nil && (at.least > value || at.leastSlice > slice); at = at.up {
		at.least, at.leastSlice = min(at.least, value), min(at.leastSlice, slice)
	}
	for n.up != nil && n.up.weight < n.weight {
		t.rotateUp(n)
	}
}

// remove takes n out.
func (t *tree) remove(n *node) {
	if !n.in {
		return
	}
	t.n--
	if t.first == n {
		t.first = n.next()
	}
	for n.left != nil && n.right != nil {
		if n.left.weight > n.right.weight {
			t.rotateUp(n.left)
		} else {
			t.rotateUp(n.right)
		}
	}
	child := n.left
	if child == nil {
		child = n.right
	}
	if child != nil {
		child.up = n.up
	}
	t.replace(n, child)
	n.up.pullUp()
	n.up, n.left, n.right, n.in = nil, nil, nil, false
}

// replace hangs child where n hangs.
func (t *tree) replace(n, child *node) {
	switch {
	case n.up == nil:
		t.root = child
	case n.up.left == n:
		n.up.left = child
	default:
		n.up.right = child
	}
}

// rotateUp makes n the parent of its parent.
func (t *tree) rotateUp(n *node) {
	p := n.up
	if p.left == n {
		if p.left = n.right; n.right != nil {
			n.right.up = p
		}
		n.right = p
	} else {
		if p.right = n.left; n.left != nil {
			n.left.up = p
		}
		n.left = p
	}
	t.replace(p, n)
	n.up, p.up = p.up, n
	p.pull()
	n.pull()
}

// next returns the one behind n, nil for the last.
func (n *node) next() *node {
	if n.right != nil {
		for n = n.right; n.left != nil; n = n.left {
		}
		return n
	}
	for n.up != nil && n.up.right == n {
		n = n.up
	}
	return n.up
}

// each calls f for all nodes in their order.
func (t *tree) each(f func(*node)) {
	for n := t.first; n != nil; n = n.next() {
		f(n)
	}
}
