// Package trace opens a trace file of any format that whylate reads:
//
//  1. a compressed file (gzip, xz, zstd), standard input or a pipe is first copied,
//     decompressed, to a temporary file, since events are read more than once;
//  2. the first bytes decide the format: each format of the registry is asked in turn;
//  3. the format's own package reads it; its events reach the caller unchanged.
//
// Memory does not grow with the size of the file. A file of a kind that whylate knows but
// does not read gives an error that names the command which turns it into one that it
// does.
package trace
