// Package nearest finds the word that somebody may have meant.
package nearest

import "strings"

// longest is the longest word that is compared: comparing takes time, and nobody mistypes a
// word of that length so that it would be told from others.
const longest = 40

// Word returns the one of known that is nearest to word, "" if none is near: at most two
// letters differ, and half of the word. Case does not count. Among equals the first wins.
func Word(word string, known []string) string {
	if len(word) > longest {
		return ""
	}
	best, least := "", min(3, len(word)/2+1)
	for _, k := range known {
		if strings.EqualFold(k, word) {
			return k
		}
		if d := editDistance(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// editDistance counts the letters to insert, delete or replace to turn a into b
// (Levenshtein). It keeps one row of the table.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
