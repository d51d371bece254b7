package rtapp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// tree reads text in the dialect and prints it, every value with its kind.
func tree(t *testing.T, text string, workgen bool) (string, *notes, error) {
	t.Helper()
	n := &notes{file: "f", text: text}
	p := parser{scanner: scanner{text: text}, notes: n, workgen: workgen}
	v, err := p.root()
	if err != nil {
		return "", n, err
	}
	var b strings.Builder
	print1(&b, &v)
	return b.String(), n, nil
}

func print1(b *strings.Builder, v *value) {
	switch v.kind {
	case object, array:
		b.WriteByte("[{"[v.kind-array])
		for i := range v.list {
			if i > 0 {
				b.WriteByte(' ')
			}
			if v.kind == object {
				fmt.Fprintf(b, "%s:", v.list[i].key)
			}
			print1(b, &v.list[i].value)
		}
		b.WriteByte("]}"[v.kind-array])
	case text:
		fmt.Fprintf(b, "%q", v.str)
	case double:
		b.WriteString(v.str + "f")
	default:
		b.WriteString(v.str)
	}
}

// The right answers are those of json-c 0.16, read with json_object_from_file as rt-app
// does; %s stands for the place of the value in {"a":%s}.
func TestDialectReadsWhatRtappReads(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", `{"a":1}`, `{a:1}`},
		{"single quotes", `{'a':'b'}`, `{a:"b"}`},
		{"the other quotes inside", `{'a"b':'c"d',"e":"it's"}`, `{a"b:"c\"d" e:"it's"}`},
		{"empty strings", `{'':''}`, `{:""}`},
		{"literals in any case", `{"a":[True,tRuE,FALSE,NULL,nUlL]}`, `{a:[true true false null null]}`},
		{"no numbers", `{"a":[NaN,nan,Infinity,INFINITY,-infinity]}`, `{a:[NaNf nanf Infinityf INFINITYf -infinityf]}`},
		{"leading zeros", `{"a":[01,-01,00,007,012.5]}`, `{a:[01 -01 00 007 012.5f]}`},
		{"odd floats", `{"a":[5.,5.e3,5e,5e+,5E-,-.5,-0.0,0e1,1.e]}`, `{a:[5.f 5.e3f 5ef 5e+f 5E-f -.5f -0.0f 0e1f 1.ef]}`},
		{"integers are integers", `{"a":[-0,99999999999999999999]}`, `{a:[-0 99999999999999999999]}`},
		{"trailing commas", `{"a":[1,2,],}`, `{a:[1 2]}`},
		{"trailing commas of empties", `{"a":{},"b":[[],],}`, `{a:{} b:[[]]}`},
		{"control characters in strings", "{\"a\":\"x\ny\tz\x01\x7f\"}", `{a:"x\ny\tz\x01\x7f"}`},
		{"escapes", `{"a":"\b\f\n\r\t\/\\\""}`, `{a:"\b\f\n\r\t/\\\""}`},
		{"unicode", `{"a":"\u0041\ud83d\ude00é"}`, `{a:"A😀é"}`},
		{"lone surrogates", `{"a":"\ud83d \ude00 \ud83d\u0041 \ud83d\ud83d\ude00"}`, `{a:"� � �A �😀"}`},
		{"NUL ends a string", `{"a\u0000b":"x\u0000y"}`, `{a:"x"}`},
		{"comments everywhere", "/*a*/ //b\n{/*c*/\"a\"/*d*/:/*e*/1/*f*/,//g\n\"b\":2//h\n}//i\n", `{a:1 b:2}`},
		{"comments of stars", `{"a":/****/1,"b":/* ***/2}`, `{a:1 b:2}`},
		{"white space", "\t\r\n {\"a\" : 1 , \"b\" : [ 1 , 2 , ] , }\r\n", `{a:1 b:[1 2]}`},
		{"more behind the first value", `{"a":1} x`, `{a:1}`},
		{"a second value", `{"a":1}{"b":2}`, `{a:1}`},
		{"NUL behind the first value", "{\"a\":1}\x00zz", `{a:1}`},
		{"first place, last value", `{"a":1,"b":2,"a":3}`, `{a:3 b:2}`},
		{"31 levels and a number", strings.Repeat(`{"a":`, 31) + "1" + strings.Repeat("}", 31), strings.Repeat("{a:", 31) + "1" + strings.Repeat("}", 31)},
		{"32 levels and nothing", strings.Repeat("[", 32) + strings.Repeat("]", 32), strings.Repeat("[", 32) + strings.Repeat("]", 32)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := tree(t, c.text, false)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDialectRejectsWhatRtappRejects(t *testing.T) {
	for _, c := range []struct{ text, want string }{ // want is "offset message"
		{``, "0 nothing in it"},
		{`   `, "0 nothing in it"},
		{`{a:1}`, "1 quoted object property name"},
		{`{"a":Inf}`, "5 unexpected character"},
		{`{"a":-NaN}`, "5 number expected"},
		{`{"a":-Inf}`, "5 number expected"},
		{`{"a":0x10}`, "5 hexadecimal"},
		{`{"a":.5}`, "5 0 in front of the point"},
		{`{"a":-}`, "5 number expected"},
		{`{"a":- 1}`, "5 number expected"},
		{`{"a":-.}`, "5 number expected"},
		{`{"a":-e5}`, "5 number expected"},
		{`{"a":+5}`, "5 unexpected character"},
		{`{"a":1.2.3}`, `8 "." inside a number`},
		{`{"a":1-2}`, `6 "-" inside a number`},
		{`{"a":--1}`, "5 number expected"},
		{`{"a":1e1.5}`, `8 "." inside a number`},
		{`{"a":1e5-3}`, `8 "-" inside a number`},
		{`{"a":1a}`, `6 "a" inside a number`},
		{`{"a":1_000}`, `6 "_" inside a number`},
		{`{"a":1;"b":2}`, `6 ";" inside a number`},
		{"{\"a\":1\v}", `6 "\v" inside a number`},
		{`{"a":1 2}`, `7 ',' or '}' expected`},
		{`{"a":1/*c*/2}`, `11 ',' or '}' expected`},
		{`{"a":1,,}`, "7 quoted object property name"},
		{`{,"a":1}`, "1 quoted object property name"},
		{`{"a":[,1]}`, "6 value expected"},
		{`{"a":[1,,2]}`, "8 value expected"},
		{`{"a":,}`, "5 value expected"},
		{`{"a":}`, "5 value expected"},
		{`{"a" 1}`, "5 ':' expected"},
		{`{"a"=1}`, "4 ':' expected"},
		{`{"a"}`, "4 ':' expected"},
		{`{"suspend",}`, `10 write "suspend" : ""`},
		{`{"a":1 "b":2}`, `7 ',' or '}' expected`},
		{`{"a":"x" "b":2}`, `9 ',' or '}' expected`},
		{`{"a":"x"y}`, `8 ',' or '}' expected`},
		{`[1 2]`, "3 ',' or ']' expected"},
		{`{"a":1]`, "6 ',' or '}' expected"},
		{`{"a":[1}}`, "7 ',' or ']' expected"},
		{`{"a":truex}`, "9 ',' or '}' expected"},
		{`{"a":nulll}`, "9 ',' or '}' expected"},
		{`{"a":tru}`, `5 "tru" is no value`},
		{`{"a":undefined}`, `5 "undefined" is no value`},
		{`{"a":tr/*c*/ue}`, `5 "tr" is no value`},
		{`{"a":"x\qy"}`, `7 invalid string sequence \q`},
		{`{"a":'it\'s'}`, `8 invalid string sequence \'`},
		{`{"a":"\x41"}`, `6 invalid string sequence \x`},
		{"{\"a\":\"x\\\ny\"}", "7 a backslash and the byte 0x0a"},
		{`{"a":"\u00"}`, "6 four hexadecimal digits"},
		{`{"a":"\u12g4"}`, "6 four hexadecimal digits"},
		{`{"a":1`, "0 without an end"},
		{`{"a":[1`, "5 without an end"},
		{`{"a":"x`, "5 string without an end"},
		{`{"a":"\`, "6 string without an end"},
		{`{"a":`, "5 the file ends"},
		{`{`, "0 without an end"},
		{`{'a":1}`, "1 string without an end"},
		{"# c\n{}", "0 comments are"},
		{"{# c\n}", "1 comments are"},
		{`{"a":1}/*`, "7 comment without an end"},
		{`{"a":1}//end`, "7 wants a newline"},
		{`{"a":1}/x`, "7 must begin a comment"},
		{`{"a":1/}`, "6 must begin a comment"},
		{`/***/{"a":1}`, `0 does not see the end in "**/"`},
		{`/* **/{"a":1}`, `0 does not see the end in "**/"`},
		{"//c\r{}", "0 wants a newline"},
		{"\ufeff{}", "0 byte order mark"},
		{"{\xa0\"a\":1}", "1 quoted object property name"},
		{"{\"a\":\"x\x00y\"}", "7 NUL byte"},
		{"\x00{}", "0 unexpected character"},
		{"/* \x00 */{}", "3 NUL byte inside a comment"},
		{"{//\x00\n}", "3 NUL byte inside a comment"},
		{strings.Repeat(`{"a":`, 32) + "1", "160 nesting too deep"},
		{strings.Repeat("[", 33), "32 nesting too deep"},
		{strings.Repeat("[", 10<<20), "32 nesting too deep"},
		{"[" + strings.Repeat("0,", 1<<20) + "]", "1048575 more than 524288 values"},
	} {
		name := c.text[:min(len(c.text), 20)]
		t.Run(name, func(t *testing.T) {
			got, _, err := tree(t, c.text, false)
			var s *syntaxError
			if !errors.As(err, &s) {
				t.Fatalf("got %s, %v", got, err)
			}
			off, msg, _ := strings.Cut(c.want, " ")
			if fmt.Sprint(s.off) != off || !strings.Contains(s.msg, msg) {
				t.Errorf("got %d %s, want %s", s.off, s.msg, c.want)
			}
		})
	}
}

func TestDuplicatesAreWarnedOf(t *testing.T) {
	const text = "{\"a\":1,\n \"b\":2,\n  \"a\":{\"x\":3}}"
	got, n, err := tree(t, text, false)
	if err != nil || got != "{a:{x:3} b:2}" {
		t.Fatalf("got %s, %v", got, err)
	}
	warnings, _ := n.result()
	if len(warnings) != 1 || warnings[0].Pos != (Pos{3, 3}) || warnings[0].Path != "a" || !strings.Contains(warnings[0].Msg, "1:2") {
		t.Errorf("got %v", warnings)
	}
}

func TestWorkgenKeepsDuplicatesInOrder(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"run":1,"sleep":2,"run":3,"sleep":4,"run":5}`, `{run:1 sleep:2 run1:3 sleep1:4 run2:5}`},
		{`{"run":1,"run1":2,"run":3}`, `{run:1 run1:2 run2:3}`},
		{`{"p":{"run":1,"run":2},"p":{"run":3}}`, `{p:{run:1 run1:2} p1:{run:3}}`},
		{`{"suspend","run":1,"suspend"}`, `{suspend:"" run:1 suspend1:""}`},
		{`{"whylate":{"a":1,"a":2}}`, `{whylate:{a:2}}`}, // ours: an error later
	} {
		got, _, err := tree(t, c.text, true)
		if err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.text, got, err, c.want)
		}
	}
	if _, _, err := tree(t, `{"yield","run":1}`, true); err == nil {
		t.Error("a bare key other than suspend was taken")
	}
}

func TestLongObjectsFindTheirDuplicates(t *testing.T) {
	var b strings.Builder
	b.WriteByte('{')
	for i := range 200_000 {
		fmt.Fprintf(&b, `"k%d":%d,`, i%100_000, i)
	}
	b.WriteString("}")
	n := &notes{text: b.String()}
	p := parser{scanner: scanner{text: n.text}, notes: n}
	v, err := p.root()
	if err != nil {
		t.Fatal(err)
	}
	if len(v.list) != 100_000 || v.list[7].value.str != "100007" {
		t.Errorf("%d members, the eighth is %s", len(v.list), v.list[7].value.str)
	}
	if warnings, _ := n.result(); len(warnings) != mostWarnings+1 || warnings[mostWarnings].Msg != "99800 further warnings" {
		t.Errorf("%d warnings, last %v", len(warnings), warnings[len(warnings)-1])
	}
}
