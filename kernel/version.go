package kernel

import "strings"

// Version is the part of a release string that orders kernels: 6.1.176 is {6, 1, 176}.
type Version struct{ Major, Minor, Point int }

// AtLeast reports whether v is major.minor or later. Point releases do not matter.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// parseVersion reads the leading numbers of a release string such as
// "6.1.0-50-rt-amd64". ok is false where it does not begin with two numbers.
func parseVersion(release string) (v Version, ok bool) {
	parts := [3]int{}
	n := 0
	rest := release
	for n < len(parts) {
		digits := 0
		for digits < len(rest) && digits < 6 && rest[digits] >= '0' && rest[digits] <= '9' {
			parts[n] = parts[n]*10 + int(rest[digits]-'0')
			digits++
		}
		if digits == 0 {
			break
		}
		n++
		if digits == len(rest) || rest[digits] != '.' {
			break
		}
		rest = rest[digits+1:]
	}
	return Version{parts[0], parts[1], parts[2]}, n >= 2
}

// hasRT reports whether the release string names a PREEMPT_RT build: "-rt" as a word,
// as Debian ("6.1.0-50-rt-amd64") and the patch itself ("5.10.1-rt20") write it.
func hasRT(release string) bool {
	for rest := release; ; {
		i := strings.Index(rest, "-rt")
		if i < 0 {
			return false
		}
		rest = rest[i+3:]
		if rest == "" || rest[0] == '-' || rest[0] >= '0' && rest[0] <= '9' {
			return true
		}
	}
}
