// Package house holds the tests of the tree itself: the rules that keep the rooms apart,
// the files short and the exported names explained. It has no code of its own.
//
//  1. tree_test.go parses every Go file of the checkout once;
//  2. imports_test.go has the table of rooms: which package may import which;
//  3. sizes_test.go, names_test.go, code_test.go look at the Go code;
//  4. files_test.go looks at everything else: licence, test data, leftovers.
//
// A rule that hinders good code is changed here, in a commit that says why.
package house
