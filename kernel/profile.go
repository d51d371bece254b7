package kernel

// Profile is a named set of facts, an alias of the kernels that it stands for.
type Profile struct {
	Name     string
	Major    int
	Minor    int
	RT       bool
	Verified bool // a trace or a document of this kernel confirmed the facts
}

// Profiles are the kernels that whylate knows by name.
var Profiles = []Profile{
	{Name: "3.4-rt", Major: 3, Minor: 4, RT: true},
	{Name: "4.11", Major: 4, Minor: 11},
	{Name: "6.1", Major: 6, Minor: 1, Verified: true},
	{Name: "6.1-rt", Major: 6, Minor: 1, RT: true, Verified: true},
	{Name: "6.6", Major: 6, Minor: 6},
	{Name: "6.12", Major: 6, Minor: 12, Verified: true},
	{Name: "6.12-rt", Major: 6, Minor: 12, RT: true, Verified: true},
	{Name: "6.18", Major: 6, Minor: 18},
}

// ProfileOf returns the name of the profile of a release string, "" if none fits.
func ProfileOf(release string) string {
	v, ok := parseVersion(release)
	if !ok {
		return ""
	}
	for _, p := range Profiles {
		if p.Major == v.Major && p.Minor == v.Minor && p.RT == hasRT(release) {
			return p.Name
		}
	}
	return ""
}
