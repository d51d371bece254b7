package rtapp

// whylate reads the object "whylate".
func (n *notes) whylate(v *value, at *place, f *File, o Options) *Whylate {
	return &Whylate{Pos: n.pos(v.off)}
}
