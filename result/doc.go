// Package result holds what whylate tells, as plain data: the machine-readable
// contract behind --json, and the only thing that package report reads.
//
// The structs have no logic. Times are nanoseconds; points in time count from
// Input.StartNS. Fields are added, never changed: else the number at the end of the
// schema name rises. A pointer that is nil prints as null and means "not known".
package result
