package eventformat

import "strings"

// column is one field of the records that an Encoder writes: where its value comes from
// and how the format declares it. Its place follows from those in front of it, as in C.
type column struct {
	from   target
	decl   string // type and name: "pid_t prev_pid", "char comm[16]"
	size   int    // bytes; 0 for what ends the record
	signed bool
	arg    string // arguments of the print format
}

// layout is how the records of one event look.
type layout struct {
	system  string
	verbs   string // of the print format
	columns []column
}

func record(system, verbs string, columns ...column) layout { return layout{system, verbs, columns} }

// taskRecord is a record of the subsystem sched that begins with a task.
func taskRecord(verbs string, columns ...column) layout {
	task := []column{comm(toTaskComm, "comm"), s32(toTask, "pid_t pid"), s32(toTaskPrio, "int prio")}
	return record("sched", strings.TrimSpace("comm=%s pid=%d prio=%d "+verbs), append(task, columns...)...)
}

// The kinds of columns: integers by width and sign, a task's name, a text behind the
// record's fixed part. toNothing stands for a field that an Event does not keep but that
// other programs insist on; it is 0.

func s32(from target, decl string) column { return column{from, decl, 4, true, argument(decl)} }
func u32(from target, decl string) column { return column{from, decl, 4, false, argument(decl)} }
func s64(from target, decl string) column { return column{from, decl, 8, true, argument(decl)} }
func u64(from target, decl string) column { return column{from, decl, 8, false, argument(decl)} }
func comm(from target, name string) column {
	return column{from, "char " + name + "[16]", commSize, true, "REC->" + name}
}
func data(from target, name string) column {
	return column{from, "__data_loc char[] " + name, 4, true, "__get_str(" + name + ")"}
}

// argument is a field as the print format usually has it.
func argument(decl string) string { return "REC->" + decl[strings.LastIndexByte(decl, ' ')+1:] }

// printed changes what the print format has for the column: "" for nothing.
func (c column) printed(arg string) column {
	c.arg = arg
	return c
}

// place is the offset of a column behind size bytes: the next multiple of its width, for
// texts the next byte.
func (c *column) place(size int) int {
	align := c.size
	if align == 0 || strings.HasSuffix(c.decl, "]") {
		align = 1
	}
	return (size + align - 1) / align * align
}
