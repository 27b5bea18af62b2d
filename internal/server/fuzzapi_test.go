// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet/internal/account"
)

// The number of bad inputs, and their seed: make fuzz-api makes more.
var (
	badInputs = flag.Int("api.inputs", 1500, "how many bad inputs TestBadInputs makes")
	badSeed   = flag.Uint64("api.seed", 1, "the seed of the bad inputs")
)

// TestBadInputs makes inputs from the description of the API and spoils each in one or more ways.
// No answer reports a fault of the server, nothing panics, and an error changes nothing.
func TestBadInputs(t *testing.T) {
	t.Parallel()
	total := *badInputs
	s := newSite(t)
	f := &fuzzer{
		site: s, rand: rand.New(rand.NewPCG(*badSeed, 0)), doc: s.srv.OpenAPI(), statuses: map[int]int{},
		ways: map[string]int{},
	}
	f.ids = append(f.ids, "unknown", "suite_"+strings.Repeat("a", 26), "..", "%00", "-1", "0", strings.Repeat("x", 300),
		"ünï", "' OR 1=1 --")
	f.ids = append(f.ids, give[suiteAnswer](t, s, "bo", "POST", suites, weatherSuite).ID)
	ops := f.operations()
	sent, led := map[string]int{}, map[string]bool{}
	wrong, accepted := 0, 0
	f.changed(t) // the state to begin with
	for i := range total {
		if i%100 == 0 { // what was deleted by luck is there again
			f.restock(t)
			f.changed(t)
		}
		op := ops[i%len(ops)]
		as := []string{"ana", "root"}[i/len(ops)%2]
		req, what := f.spoiled(op)
		req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+as)
		code, answer, panicked := f.send(t, req)
		f.statuses[code]++
		sent[op.OperationID]++
		led[op.OperationID] = led[op.OperationID] || code != http.StatusNotFound
		why := ""
		switch {
		case panicked != nil:
			why = fmt.Sprintf("panic: %v", panicked)
		case code >= 500 && (code != http.StatusBadGateway || !strings.Contains(op.path, "/mcp/")):
			why = "an error of the server"
		case code >= 400 && f.changed(t):
			why = "an error that changed something"
		case code >= 400 && code != http.StatusNotFound && code != http.StatusMethodNotAllowed &&
			!json.Valid([]byte(answer)):
			why = "an error that is no JSON"
		case code < 400:
			accepted++
			f.changed(t)
		}
		if why != "" {
			if wrong++; wrong <= 20 {
				t.Errorf("%s: %d %.300s\n  %s %s (%s) as %s: %.300q", why, code, answer, req.Method, req.URL,
					what, as, f.body)
			}
		}
	}
	if n := f.statuses[http.StatusTooManyRequests] + f.statuses[http.StatusUnauthorized]; n*20 > total {
		t.Errorf("%d of %d inputs were not looked at: %v", n, total, f.statuses)
	}
	for _, way := range slices.Sorted(maps.Keys(f.ways)) {
		t.Logf("%-28s %d", way, f.ways[way])
	}
	fuzzed, nowhere := 0, []string{}
	for _, op := range ops {
		if sent[op.OperationID] > 0 {
			fuzzed++
		}
		if !led[op.OperationID] {
			nowhere = append(nowhere, op.method+" "+op.path)
		}
	}
	described := f.described()
	if fuzzed+len(f.left) != described {
		t.Errorf("%d of the %d routes of the description were asked, and %d left out: %v", fuzzed, described,
			len(f.left), f.left)
	}
	if len(nowhere) > 0 && total >= 10*len(ops) {
		t.Errorf("routes that answered nothing but that there is no such object: %v", nowhere)
	}
	t.Logf("%d of %d routes of the description were asked, all but those that stream or end the login: %v", fuzzed,
		described, f.left)
	t.Logf("answers by status: %v; %d operations", f.statuses, len(ops))
	t.Logf("%d inputs were accepted: what was odd about them is allowed, or is not read", accepted)
	t.Logf("%d of %d bad inputs: no error of the server, no panic, nothing changed by an error", total-wrong, total)
}

type apiOp struct {
	path, method string
	*huma.Operation
}

type fuzzer struct {
	*site
	rand     *rand.Rand
	doc      *huma.OpenAPI
	ids, own []string
	of       map[string]string // objects of ana's by the word of their path
	left     []string          // operations that are not asked
	statuses map[int]int
	ways     map[string]int
	body     []byte
	changes  int64
	digest   [sha256.Size]byte
}

// operations are those of the description that take and give JSON, in an order that is always the same.
func (f *fuzzer) operations() (out []apiOp) {
	for _, path := range slices.Sorted(maps.Keys(f.doc.Paths)) {
		p := f.doc.Paths[path]
		for _, op := range []apiOp{
			{path, "GET", p.Get},
			{path, "POST", p.Post},
			{path, "PUT", p.Put},
			{path, "PATCH", p.Patch},
			{path, "DELETE", p.Delete},
		} {
			switch {
			case op.Operation == nil:
			case f.streams(op.Operation), op.OperationID == "logout": // it ends what all others are sent with
				f.left = append(f.left, op.OperationID)
			default:
				out = append(out, op)
			}
		}
	}
	return out
}

// described is how many operations the description has.
func (f *fuzzer) described() (n int) {
	for _, p := range f.doc.Paths {
		for _, op := range []*huma.Operation{p.Get, p.Post, p.Put, p.Patch, p.Delete, p.Head, p.Options} {
			if op != nil {
				n++
			}
		}
	}
	return n
}

// restock makes an object of every kind, in place of those before.
func (f *fuzzer) restock(t *testing.T) {
	t.Helper()
	// a user may have a hundred schedules
	for _, kind := range []string{"/schedules", "/experiments", "/gates", "/tool-eval/history"} {
		if id := f.of[kind]; id != "" {
			f.ask(t, "ana", "DELETE", "/api"+kind+"/"+id, "")
		}
	}
	s, id := f.site, func(path, body string) string {
		return give[struct{ ID string }](t, f.site, "ana", "POST", path, body).ID
	}
	suite := give[suiteAnswer](t, s, "ana", "POST", suites, weatherSuite).ID
	f.of = map[string]string{
		"/tool-suites": suite,
		"/catalogues":  give[suiteAnswer](t, s, "root", "POST", "/api/catalogues", searched).ID,
		"/traces":      give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=fuzz", sampleTraces).ID,
		"/schedules": id("/api/schedules",
			fmt.Sprintf(`{"name":"nightly","eval":{"suite_id":%q,"models":["offline/lexical"]},"on":["suite_changed"]}`,
				suite)),
		"/experiments": id("/api/experiments", fmt.Sprintf(`{"name":"fuzzed","suite_id":%q}`, suite)),
		"/prompts":     id("/api/prompts", `{"name":"fuzzed","text":"Be brief."}`),
		"/gates":       id("/api/gates", `{"name":"release","text":"gates: [{metric: pass_rate, at_least: 0.1}]"}`),
		"/jobs": give[jobAnswer](t, s, "ana", "POST", "/api/tool-eval",
			fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"]}`, suite)).JobID,
		"/users": "user_vera",
		"/runs":  s.ran(t, "ana", "", 1),
	}
	s.grant(t, "user_ana", all(), time.Hour)
	f.of["/tokens"], f.of["/tool-eval/history"] = fmt.Sprintf("token_granted%d", s.made), f.of["/runs"]
	f.own = slices.Sorted(maps.Values(f.of))
}

// streams reports whether an answer does not end by itself.
func (f *fuzzer) streams(op *huma.Operation) bool {
	for _, r := range op.Responses {
		if r.Content["text/event-stream"] != nil {
			return true
		}
	}
	return op.Responses["101"] != nil
}

// send calls the handler itself, and recovers from its panics.
func (f *fuzzer) send(t *testing.T, req *http.Request) (code int, answer string, panicked any) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w := httptest.NewRecorder()
	defer func() { panicked = recover() }()
	f.srv.Handler().ServeHTTP(w, req.WithContext(ctx))
	return w.Code, w.Body.String(), nil
}

// private are tables that change with every request: the last use of logins, and the counts of a
// run that is read for the first time.
func private(table string) bool {
	return slices.Contains([]string{"tokens", "sessions", "audit", "links", "logins", "run_documents"}, table) ||
		strings.HasPrefix(table, "river")
}

// changed reports whether the data of the server have changed since the last call.
func (f *fuzzer) changed(t *testing.T) bool {
	t.Helper()
	db := f.db.Handle()
	var n int64
	if err := db.QueryRowContext(t.Context(), "SELECT total_changes()").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n == f.changes {
		return false
	}
	f.changes = n
	sum := sha256.New()
	for _, table := range f.tables(t) {
		rows, err := db.QueryContext(t.Context(), `SELECT * FROM "`+table+`" ORDER BY 1, 2`)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(sum, table, values)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
	}
	var now [sha256.Size]byte
	sum.Sum(now[:0])
	was := f.digest
	f.digest = now
	return now != was
}

func (f *fuzzer) tables(t *testing.T) (out []string) {
	t.Helper()
	rows, err := f.db.Handle().QueryContext(t.Context(),
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !private(name) {
			out = append(out, name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func pick[T any](f *fuzzer, list ...T) T { return list[f.rand.IntN(len(list))] }

// spoiled makes a request of an operation that is wrong somewhere.
func (f *fuzzer) spoiled(op apiOp) (req *http.Request, what string) {
	path, query := op.path, url.Values{}
	way := f.rand.IntN(10)
	for _, p := range op.Parameters {
		switch p.In {
		case "path":
			id := pick(f, f.ids...)
			if way > 2 {
				id = f.good(op.path, p.Name)
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(id))
		case "query":
			if f.rand.IntN(3) == 0 {
				query.Add(p.Name, fmt.Sprint(f.scalar()))
			}
		}
	}
	if f.rand.IntN(8) == 0 {
		query.Set(pick(f, "unknown", "limit", "cursor", "format"), fmt.Sprint(f.scalar()))
	}
	f.body, what = nil, "no body"
	kind := "application/json"
	if op.RequestBody != nil {
		f.body, what = f.spoil(op)
		if f.rand.IntN(20) == 0 {
			kind, what = pick(f, "text/xml", "", "application/json; charset=latin1", "multipart/form-data",
				"multipart/form-data; boundary=x", "a/b/c", "\"", "application/cbor"), "content type"
		}
	} else if f.rand.IntN(4) == 0 {
		f.body, what = f.garbage(), "a body that is not read"
	}
	f.ways[what]++
	target := path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req = httptest.NewRequest(op.method, "http://callvet.test/", bytes.NewReader(f.body))
	if u, err := url.Parse("http://callvet.test" + target); err == nil {
		req.URL = u
	}
	req.Header.Set("Content-Type", kind)
	if f.rand.IntN(6) == 0 {
		req.Header.Set("If-Match", pick(f, `"1"`, `"99"`, "*", "W/", "\x7f", strings.Repeat(`"1",`, 500), `"-1"`))
	}
	return req, what
}

// good is a value of a path that leads somewhere.
func (f *fuzzer) good(path, name string) string {
	switch {
	case name == "cid":
		return pick(f, "case-1", "case-2")
	case name == "version":
		return "1"
	case name == "variable":
		return "OPENAI_API_KEY"
	case strings.Contains(path, "/admin/tool-eval"):
		return f.of["/runs"]
	}
	for kind, id := range f.of {
		if strings.HasPrefix(path, "/api"+kind+"/") {
			return id
		}
	}
	return f.of["/tool-suites"]
}

// spoil makes a body of the description, and spoils it.
func (f *fuzzer) spoil(op apiOp) (body []byte, what string) {
	media := op.RequestBody.Content["application/json"]
	if media == nil || f.rand.IntN(12) == 0 {
		return f.garbage(), "garbage"
	}
	v := f.value(media.Schema, 0)
	b, err := json.Marshal(v)
	if err != nil {
		return f.garbage(), "garbage"
	}
	switch f.rand.IntN(9) {
	case 0:
		return f.swapped(v), "another type"
	case 1:
		return b[:f.rand.IntN(len(b)+1)], "cut"
	case 2:
		return append(b, pick(f, "{}", "]", "x", " null", "\x00")...), "something behind"
	case 3:
		return bytes.Replace(b, []byte(`":`), []byte(pick(f, "\xff\":", "\\u0000\":", "\\ud800\":", "X\":")),
			1), "a name"
	case 4:
		if i := bytes.IndexByte(b, '{'); i >= 0 {
			return slices.Concat(b[:i+1], []byte(`"name":1,"name":2,"unknown":{},`), b[i+1:]), "extra and twice"
		}
		return f.garbage(), "garbage"
	case 5:
		deep := strings.Repeat(pick(f, `[`, `{"a":`), pick(f, 50, 101, 5000))
		return bytes.Replace(b, []byte(`:`), []byte(`:`+deep), 1), "deep"
	case 6:
		return f.without(v), "missing"
	case 7:
		return bytes.ReplaceAll(b, []byte(`"`), []byte(pick(f, `"\u0000`, "\"\xc3\x28", `"\ud83d`))), "text"
	}
	return b, "odd values"
}

func (f *fuzzer) garbage() []byte {
	b := make([]byte, f.rand.IntN(200))
	for i := range b {
		b[i] = byte(f.rand.IntN(256))
	}
	return pick(f, b, []byte{}, []byte("null"), []byte("[]"), []byte("{}"), []byte(`"text"`), []byte("1e999"),
		[]byte("-0"), bytes.Repeat([]byte(" "), 1000), []byte("callvet: 1\ncases: [{prompt: x}]"),
		[]byte("--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n{}\r\n--x--"))
}

func (f *fuzzer) scalar() any {
	return pick[any](f, -1, 0, 1, json.Number("1e308"), json.Number("99999999999999999999"), json.Number("-1e999"), 0.5,
		true, nil, "", "\x00", "é\u202e", strings.Repeat("a", pick(f, 10, 300, 60_000)), "../../etc/passwd",
		"exec:true", "{{7*7}}", "${HOME}", "http://127.0.0.1:1/", []any{}, map[string]any{})
}

// value makes one of a schema, with odd values here and there.
func (f *fuzzer) value(s *huma.Schema, depth int) any {
	if s == nil || depth > 6 {
		return f.scalar()
	}
	if s.Ref != "" {
		return f.value(f.doc.Components.Schemas.SchemaFromRef(s.Ref), depth)
	}
	if f.rand.IntN(12) == 0 {
		return f.scalar()
	}
	switch {
	case len(s.OneOf) > 0:
		return f.value(pick(f, s.OneOf...), depth+1)
	case len(s.Enum) > 0:
		return pick(f, s.Enum...)
	}
	switch s.Type {
	case huma.TypeObject:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || f.rand.IntN(3) == 0 {
				out[name] = f.named(name, s.Properties[name], depth)
			}
		}
		if s.Properties == nil {
			out[pick(f, "a", "type", "function", "")] = f.scalar()
		}
		return out
	case huma.TypeArray:
		out := []any{}
		for range f.rand.IntN(3) {
			out = append(out, f.value(s.Items, depth+1))
		}
		return out
	case huma.TypeBoolean:
		return f.rand.IntN(2) == 0
	case huma.TypeInteger, huma.TypeNumber:
		edge := []any{0, 1, -1}
		for _, b := range []*float64{s.Minimum, s.Maximum} {
			if b != nil {
				edge = append(edge, *b, *b-1, *b+1)
			}
		}
		return pick(f, edge...)
	}
	text := pick(f, "a", "get_weather", "What is the weather?", "offline/lexical", "")
	if s.MaxLength != nil && f.rand.IntN(10) == 0 {
		text = strings.Repeat("x", min(*s.MaxLength+1, 60_000))
	}
	return text
}

// named returns values that pass the first checks: ids of others, addresses.
func (f *fuzzer) named(name string, s *huma.Schema, depth int) any {
	switch {
	case strings.HasSuffix(name, "_id") && f.rand.IntN(2) == 0:
		return pick(f, append(slices.Clone(f.ids), f.own...)...)
	case strings.Contains(name, "url"):
		return pick(f, "http://127.0.0.1:1/", "ftp://x", "", "http://[::1]:1/", "http://169.254.169.254/")
	case name == "text":
		return pick(f, weatherSuite, "callvet: 1\ncases: []", "{", string(f.garbage()))
	}
	return f.value(s, depth+1)
}

// swapped puts a value of another type somewhere.
func (f *fuzzer) swapped(v any) []byte {
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		m[pick(f, slices.Sorted(maps.Keys(m))...)] = f.scalar()
	} else {
		v = f.scalar()
	}
	return jsonOf(v)
}

func (f *fuzzer) without(v any) []byte {
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		delete(m, pick(f, slices.Sorted(maps.Keys(m))...))
	}
	return jsonOf(v)
}

// jsonOf writes a value of JSON types.
func jsonOf(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return b
}
