package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/whylate/whylate/result"
)

// The elements of JUnit's XML that every reader of it knows.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// GateJUnit prints the answer of `whylate gate` as JUnit's XML: a test for each task that a
// budget was asked of. One that holds unreliably was skipped: it shows nothing. Only writing to
// w can fail.
func GateJUnit(w io.Writer, r *result.Gate) error {
	p := newPrinter(w, Options{})
	s := junitSuite{Name: "whylate gate " + r.Input.File}
	for i := range r.Budgets {
		b := &r.Budgets[i]
		for j := range b.Tasks {
			t := &b.Tasks[j]
			cells := p.judged(b.Budget, b.Note, t)
			found := strings.TrimSpace(fmt.Sprintf("%s (%s): %s, limit %s, of %s %s", cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]))
			c := junitCase{Class: cells[2], Name: b.Budget}
			switch t.Status {
			case "failed":
				s.Failures++
				c.Failure = &junitMessage{Message: found, Text: found}
			case "unreliable":
				s.Skipped++
				c.Skipped = &junitMessage{Message: found}
			default:
				c.Out = found
			}
			s.Cases = append(s.Cases, c)
		}
	}
	s.Tests = len(s.Cases)
	if _, err := io.WriteString(p.w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(p.w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("writing JUnit's XML: %w", err)
	}
	p.line("")
	return p.flush()
}
