// Package trace opens a trace file of any format that whylate reads, and writes those that
// other programs read best:
//
//  1. a compressed file (gzip, xz, zstd), standard input or a pipe is first copied,
//     decompressed, to a temporary file, since events are read more than once;
//  2. the first bytes decide the format: each format of the registry is asked in turn;
//  3. the format's own package reads it; its events reach the caller unchanged.
//
// Memory does not grow with the size of the file, and what is spooled is bounded: a small
// file that claims to be a huge one is refused before it fills the disk. The temporary
// file has no name once it is open, where the system allows that, so nothing is left
// behind however the program ends.
//
// A file of a kind that whylate knows but does not read gives an error that names the
// command which turns it into one that it does. A compressed file without its end gives
// the events that are there, and a diagnostic "truncated".
//
// Create is the way back: a trace.dat or a text, chosen by the name of the file.
//
// The package does not interpret events, and does not merge several files.
package trace
