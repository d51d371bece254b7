// Package kernel holds facts about Linux kernels by version: which mechanisms a
// version has, what its events look like, what its threads are called.
//
// Every difference between versions is a named feature of this package. Nobody else
// compares version numbers: code asks Facts for a feature by name.
//
// The facts are keyed by what uname prints. A trace that does not say which kernel
// recorded it gets Unknown facts, where features that differ are Maybe.
//
// What a distribution changed beside the version (the -rt patch, backports) is seen
// only as far as the release string tells it.
package kernel
