// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/callvet/callvet"

// layers are the rooms of the module, from the bottom up. A room imports rooms of lower layers, and of
// its own layer those that stand before it. A new room needs a line here and an ADR with the reason.
var layers = []struct {
	name  string
	rooms []string
}{
	{"nouns", []string{
		"value", "", "stats", "stats/exact", "stats/judge", "stats/gate", "stats/conform",
	}},
	{"one attempt", []string{
		"contract", "internal/sys", "internal/doc",
		"score/condition", "score/match", "score/bfcl", "score/safety", "score",
	}},
	{"many attempts", []string{
		"internal/message", "internal/redact", "panel", "panel/gates", "panel/steps", "retrieve", "retrieve/learn",
	}},
	{"adapters", []string{
		"internal/report/plain", "internal/run", "internal/store/rows", "internal/store", "internal/trace",
		"internal/trace/foreign", "internal/provider", "internal/provider/agent", "internal/provider/offline",
		"internal/world", "internal/mcp", "internal/modelproxy", "internal/suite/native", "internal/suite/dialect",
		"internal/conformtest", "internal/mutate",
	}},
	{"subjects", []string{
		"internal/suite", "internal/catalog", "internal/judge", "internal/labels",
		"internal/plan", "internal/measure", "internal/tune",
	}},
	{"application", []string{
		"internal/report", "internal/app", "internal/app/results",
		"internal/app/traces",
		"internal/app/runs", "internal/app/tunes", "internal/app/catalogs", "internal/app/cases",
		"internal/report/console",
	}},
	{"clients", []string{
		"web", "internal/account", "internal/job", "internal/library",
		"internal/remote",
		"internal/server/api", "internal/server/assets", "internal/server",
		"cmd/callvet",
	}},
}

// pureLayers is how many layers, from the bottom, are pure: their rooms may not touch files, network, clocks,
// processes or logs. The rooms of impureRooms may.
const pureLayers = 3

var impureRooms = []string{
	"internal/sys", "internal/doc", "internal/redact",
}

var impure = []string{
	"os", "os/exec", "os/signal", "net", "net/http", "log", "log/slog", "syscall", "math/rand",
	"crypto/rand",
}

// headless rooms do what commands and servers ask for, for any of them: they read no flag, no
// file and no environment themselves, and their callers show the results. The value is
// what one imports all the same, to hand on the HTTP client of its caller.
var headless = map[string]string{
	"internal/app": "net/http", "internal/app/results": "", "internal/app/traces": "", "internal/app/runs": "net/http",
	"internal/app/catalogs": "net/http", "internal/app/cases": "",
	"internal/app/tunes": "", "internal/catalog": "net/http", "internal/plan": "", "internal/tune": "",
}

var withHead = []string{
	"os", "os/exec", "os/signal", "net", "net/http", "log", "log/slog", "syscall", "flag",
	"runtime/debug", "github.com/spf13/cobra", "github.com/spf13/pflag",
}

// thirdParty lists the rooms that a direct module may enter, nearly always one; cmd may
// use the command-line ones only.
var thirdParty = map[string][]string{
	"github.com/santhosh-tekuri/jsonschema/v6": {"contract"},
	"github.com/expr-lang/expr":                {"score/condition"},
	"gonum.org/v1/gonum":                       {"stats"},
	"modernc.org/sqlite":                       {"internal/store"},
	"github.com/blevesearch/snowballstem":      {"retrieve"},
	"github.com/jstemmer/go-junit-report/v2":   {"internal/report"},
	"charm.land/lipgloss/v2":                   {"internal/report"},
	"github.com/parquet-go/parquet-go":         {"internal/measure"},
	"google.golang.org/protobuf":               {"internal/trace/foreign"},
	"go.opentelemetry.io/proto/otlp":           {"internal/trace/foreign"}, // tests only
	"github.com/spf13/cobra":                   {"cmd/callvet"},
	"golang.org/x/time":                        {"internal/run"},
	"github.com/viterin/vek":                   {"retrieve"},
	"github.com/modelcontextprotocol/go-sdk":   {"internal/mcp"},
	"github.com/danielgtaylor/huma/v2": {
		"internal/server", "internal/server/api", "internal/server/assets",
	},
	"github.com/coder/websocket":          {"internal/server/api"},
	"github.com/robfig/cron/v3":           {"internal/job"},
	"github.com/prometheus/client_golang": {"internal/server/api"},
	"github.com/riverqueue/river":         {"internal/job"},
	"github.com/alexedwards/argon2id":     {"internal/account"},
}

type pkg struct {
	ImportPath   string
	Dir          string
	Doc          string // the first sentence
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	out := slices.Concat(listModule(t, "."), listModule(t, "verify"))
	var ps []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return ps
		} else if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
}

// listModule lists the packages of the module in a folder, as JSON documents one after another.
func listModule(t *testing.T, folder string) []byte {
	t.Helper()
	cmd := exec.Command("go", "-C", folder, "list",
		"-json=ImportPath,Dir,Doc,GoFiles,TestGoFiles,XTestGoFiles,Imports", "./...")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", folder, err, errs.String())
	}
	return out
}

func room(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

// within reports whether a room is another one or a part of it.
func within(room, owner string) bool { return room == owner || strings.HasPrefix(room, owner+"/") }

// place is where a room stands in layers: its layer, and its number among all rooms, from the bottom.
func place(room string) (layer, number int, ok bool) {
	n := 0
	for i, l := range layers {
		if at := slices.Index(l.rooms, room); at >= 0 {
			return i, n + at, true
		}
		n += len(l.rooms)
	}
	return 0, 0, false
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		from := room(p.ImportPath)
		layer, number, known := place(from)
		if !known && product(from) {
			t.Errorf("room %s is not in layers of house_test.go: a new room needs an ADR and a line there", from)
			continue
		}
		for _, imp := range p.Imports {
			if within(imp, module) {
				if _, below, ok := place(room(imp)); known && (!ok || below >= number) {
					t.Errorf("%s imports %s, which does not stand below it in layers of house_test.go",
						p.ImportPath, imp)
				}
				continue
			}
			if known && layer < pureLayers && !slices.Contains(impureRooms, from) && slices.Contains(impure, imp) {
				t.Errorf("%s imports %s: a pure room has no files, network, clock, processes or logs",
					p.ImportPath, imp)
			}
			if but, ok := headless[from]; ok && imp != but && slices.Contains(withHead, imp) {
				t.Errorf("%s imports %s: it works for any client, and is given files, clock and models",
					p.ImportPath, imp)
			}
			for mod, owners := range thirdParty {
				if within(imp, mod) && !slices.ContainsFunc(owners, func(o string) bool { return within(from, o) }) {
					t.Errorf("%s imports %s: that module belongs to %v alone (docs/design/adr/0001-dependencies.md)",
						p.ImportPath, imp, owners)
				}
			}
		}
	}
}

// cmdFanOut is how many rooms cmd/callvet imports. What it does is internal/app's, so that it
// needs that room and the six over it, those that draw, what it opens for the application (files, the store), and for
// serve the server, its users and its page. The number only falls.
const cmdFanOut = 18

func TestFanOut(t *testing.T) {
	t.Parallel()
	most := map[string]int{
		"cmd/callvet": cmdFanOut,
		// the HTTP side of the application and of the rooms that only it has
		"internal/server/api": 20, "internal/server/assets": 20, "internal/server": 22,
	}
	for _, p := range listPackages(t) {
		limit, limited := most[room(p.ImportPath)]
		if n := fanOut(p); limited && n > limit {
			t.Errorf("%s imports %d rooms of the module, at most %d", room(p.ImportPath), n, limit)
		}
	}
}

func fanOut(p pkg) (n int) {
	for _, imp := range p.Imports {
		if within(imp, module) {
			n++
		}
	}
	return n
}

// TestSmells lists what a reader looks at twice, and fails nothing: make house prints it.
// A number decides no cut: docs/design/adr/0003-sizes.md.
func TestSmells(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("make house prints the list")
	}
	all := listPackages(t)
	importers := map[string][]string{}
	for _, p := range all {
		for _, imp := range p.Imports {
			importers[imp] = append(importers[imp], room(p.ImportPath))
		}
	}
	for _, p := range all {
		from := cmp.Or(room(p.ImportPath), "callvet")
		if n := fanOut(p); n > 16 {
			t.Logf("%s: imports %d rooms", from, n)
		}
		code, tests := 0, 0
		for _, name := range append(slices.Clone(p.TestGoFiles), p.XTestGoFiles...) {
			tests += linesOf(t, filepath.Join(p.Dir, name))
		}
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			n := linesOf(t, path)
			if code += n; n > 400 {
				t.Logf("%s: %d lines", filepath.Join(from, name), n)
			}
			longOnes(t, filepath.Join(from, name), path)
		}
		if who := importers[p.ImportPath]; code < 250 && len(who) == 1 {
			t.Logf("%s: %d lines, and only %s imports it", from, code, who[0])
		}
		if product(from) && code >= 250 && float64(tests) < 0.7*float64(code) {
			t.Logf("%s: %d lines of tests for %d of code", from, tests, code)
		}
	}
}

func linesOf(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

// longOnes lists the functions and interfaces of a file that are long.
func longOnes(t *testing.T, name, path string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1; lines > 50 {
				t.Logf("%s: function %s has %d lines", name, n.Name.Name, lines)
			}
		case *ast.TypeSpec:
			if i, ok := n.Type.(*ast.InterfaceType); ok && i.Methods.NumFields() > 5 {
				t.Logf("%s: interface %s has %d methods", name, n.Name.Name, i.Methods.NumFields())
			}
		}
		return true
	})
}

// TestNoUnsafe: no file imports unsafe, tests included.
func TestNoUnsafe(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			path := filepath.Join(p.Dir, name)
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range f.Imports {
				if imp.Path.Value == `"unsafe"` {
					t.Errorf("%s imports unsafe", path)
				}
			}
		}
	}
}

var update = flag.Bool("update", false, "write the map of docs/design/architecture.md")

// TestMap: the map of docs/design/architecture.md has each package with the first sentence of its
// comment, or the question in it; -update writes it. The page can be read in one sitting.
func TestMap(t *testing.T) {
	t.Parallel()
	const page, begin, end = "docs/design/architecture.md", "<!-- map -->\n", "<!-- end of map -->"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	old, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the map", page)
	}
	var m strings.Builder
	docs := map[string]string{}
	for _, p := range listPackages(t) {
		docs[room(p.ImportPath)] = p.Doc
	}
	for _, l := range slices.Backward(layers) {
		fmt.Fprintf(&m, "\n| %s | answers |\n|---|---|\n", l.name)
		for _, from := range slices.Backward(l.rooms) {
			fmt.Fprintf(&m, "| `%s` | %s |\n", cmp.Or(from, "callvet"), question(docs[from]))
		}
	}
	if m.String() == old {
		return
	}
	if !*update {
		t.Fatalf("the map of %s differs from the packages' comments: go test . -run TestMap -update", page)
	}
	if err := os.WriteFile(page, []byte(before+begin+m.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// question is the first sentence of a package's comment, without its first words.
func question(doc string) string {
	text := doc
	if head, q, ok := strings.Cut(doc, ": "); ok && strings.Contains(head, " answers") && strings.Contains(q, "?") {
		text, _, _ = strings.Cut(q, "?")
		return text + "?"
	}
	text = strings.TrimSuffix(text, ".")
	if words := strings.SplitN(text, " ", 3); len(words) == 3 {
		text = words[2] // without "Package X"
	}
	return text
}

// TestDocs holds files to their license header and to comments on packages and exported
// names. How long they are is no rule: docs/design/adr/0003-sizes.md.
func TestDocs(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		documented := false
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(src, []byte("// Code generated by sqlc.")) { // see internal/store/rows/doc.go
				continue
			}
			if !bytes.HasPrefix(src, []byte("// Copyright 2026 The callvet authors.")) {
				t.Errorf("%s lacks the license header", path)
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, src, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			documented = documented || f.Doc != nil
			checkFile(t, fset, f)
		}
		if !documented {
			t.Errorf("package %s lacks a package comment", p.ImportPath)
		}
	}
}

// product reports whether a room is a part of the binary that users run.
func product(room string) bool {
	return !within(room, "verify") && !within(room, "examples")
}

// TestGoroutinesHaveOwners: what starts goroutines in another way than
// internal/sys ends the process with exit code 2 when it panics.
func TestGoroutinesHaveOwners(t *testing.T) {
	t.Parallel()
	starts := map[string]bool{
		"sync.WaitGroup": true, "errgroup.Group": true, "errgroup.WithContext": true,
		"time.AfterFunc": true, "context.AfterFunc": true,
	}
	eachFile(t, func(room string, fset *token.FileSet, f *ast.File) {
		file := filepath.Base(fset.Position(f.Package).Filename)
		if !product(room) || room == "internal/sys" && file == "group.go" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			found := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				found = "go statement"
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && starts[x.Name+"."+n.Sel.Name] {
					found = x.Name + "." + n.Sel.Name
				}
			}
			if found != "" {
				t.Errorf("%s: %s: start goroutines with sys.Group, which brings their panics to the owner",
					fset.Position(n.Pos()), found)
			}
			return true
		})
	})
}

// TestFilesAreWrittenInOnePlace: what writes in another way than internal/sys may
// put a regular file in the place of a device, or lose the old one on a full disk.
func TestFilesAreWrittenInOnePlace(t *testing.T) {
	t.Parallel()
	writes := []string{
		"Chmod", "Chown", "Create", "CreateTemp", "Lchown", "Link", "Mkdir", "MkdirAll", "MkdirTemp",
		"NewFile", "OpenFile",
		"Remove", "RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile",
	}
	eachFile(t, func(room string, fset *token.FileSet, f *ast.File) {
		file := filepath.Base(fset.Position(f.Package).Filename)
		if !product(room) || room == "internal/sys" && strings.HasPrefix(file, "file_") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" && slices.Contains(writes, s.Sel.Name) {
				t.Errorf("%s: os.%s: internal/sys writes files, in file_*.go", fset.Position(n.Pos()), s.Sel.Name)
			}
			return true
		})
	})
}

// eachFile parses every file that is no test.
func eachFile(t *testing.T, do func(room string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	for _, p := range listPackages(t) {
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			do(room(p.ImportPath), fset, f)
		}
	}
}

// checkFile checks one file against the rules for init functions and the documentation of exported names.
func checkFile(t *testing.T, fset *token.FileSet, f *ast.File) {
	t.Helper()
	at := func(n ast.Node) string { return fset.Position(n.Pos()).String() }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "init" && d.Recv == nil {
				t.Errorf("%s: init functions are not allowed", at(d))
			}
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnown(d.Name.Name) {
				t.Errorf("%s: exported %s has no comment", at(d), d.Name.Name)
			}
		case *ast.GenDecl:
			checkDecl(t, at, d)
		}
	}
}

func checkDecl(t *testing.T, at func(ast.Node) string, d *ast.GenDecl) {
	t.Helper()
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				t.Errorf("%s: exported type %s has no comment", at(s), s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					t.Errorf("%s: exported %s has no comment", at(s), name.Name)
				}
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	typ := d.Recv.List[0].Type
	if s, ok := typ.(*ast.StarExpr); ok {
		typ = s.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

// wellKnown methods explain themselves by their name and interface.
func wellKnown(name string) bool {
	return slices.Contains([]string{"Error", "String", "Unwrap", "Len", "Less", "Swap"}, name)
}

// makeList gives the packages of a list in the Makefile, and whether a room is one of them.
func makeList(t *testing.T, name string) (patterns []string, has func(room string) bool) {
	t.Helper()
	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(strings.ReplaceAll(string(b), "\\\n", " "), "\n"+name+" := ")
	list, _, _ = strings.Cut(list, "\n")
	if patterns = strings.Fields(list); !ok || len(patterns) == 0 || !strings.Contains(string(b), " -race ") {
		t.Fatalf("the Makefile has no %s := ./room/… for its target race", name)
	}
	return patterns, func(room string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			tree, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			return room != "" && (room == tree || below && within(room, tree))
		})
	}
}

// TestRaceCoversWhatSharesMemory: make race tests every package that starts goroutines, locks or
// uses unsafe, in its code or in its tests, unless make unit runs all of its tests. The Makefile
// lists the packages that both test.
func TestRaceCoversWhatSharesMemory(t *testing.T) {
	t.Parallel()
	_, racedHere := makeList(t, "RACE")
	_, racedThere := makeList(t, "RACE_VERIFY")
	_, bothHere := makeList(t, "UNRACED_IN")
	_, bothThere := makeList(t, "UNRACED_IN_VERIFY")
	raced := func(at string) bool { return racedHere(at) || racedThere(inVerify(at)) }
	pattern, _ := makeList(t, "UNRACED")
	unraced := regexp.MustCompile(strings.ReplaceAll(pattern[0], "$$", "$"))
	found := 0
	for _, p := range listPackages(t) {
		tests := append(slices.Clone(p.TestGoFiles), p.XTestGoFiles...)
		at := room(p.ImportPath)
		some, without := 0, 0
		for _, name := range tests {
			for _, test := range testsOf(t, filepath.Join(p.Dir, name)) {
				some++
				if unraced.MatchString(test) {
					without++
				}
			}
		}
		if both := bothHere(at) || bothThere(inVerify(at)); raced(at) && both != (without > 0) {
			t.Errorf("%s has %d tests like %s; it is in UNRACED_IN of the Makefile: %t", at, without, unraced, both)
		}
		if some == without {
			continue // nothing is left for the race detector
		}
		for _, name := range append(slices.Clone(p.GoFiles), tests...) {
			why := sharesMemory(t, filepath.Join(p.Dir, name))
			if why == "" {
				continue
			}
			if found++; !raced(at) {
				t.Errorf("%s %s, and make race leaves %s out: add it to RACE in the Makefile", name, why, at)
			}
			break
		}
	}
	if found == 0 {
		t.Error("no package shares memory: this test looks at the wrong thing")
	}
}

// testsOf are the names of the tests, examples and fuzz targets in a file.
func testsOf(t *testing.T, path string) (out []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Recv == nil && fn.Name.Name != "TestMain" &&
			regexp.MustCompile(`^(Test|Fuzz|Example)`).MatchString(fn.Name.Name) {
			out = append(out, fn.Name.Name)
		}
	}
	return out
}

// inVerify is the path of a room within the module verify, "." for its root, and "" for a room elsewhere.
func inVerify(at string) string {
	if at == "verify" {
		return "."
	}
	below, ok := strings.CutPrefix(at, "verify/")
	if !ok {
		return ""
	}
	return below
}

// sharesMemory is how a file shares memory between goroutines, "" where it does not.
func sharesMemory(t *testing.T, path string) (why string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, imp := range f.Imports {
		name := strings.Trim(imp.Path.Value, `"`)
		for _, shares := range []string{
			"sync", "sync/atomic", "unsafe", "golang.org/x/sync",
		} {
			if within(name, shares) {
				return "imports " + name
			}
		}
	}
	starts := []string{"Group", "InParallel", "Prefetch", "Sleep", "WhenCanceled", "PanicOf", "Panic"}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			why = "starts a goroutine"
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "sys" && slices.Contains(starts, n.Sel.Name) {
				why = "uses sys." + n.Sel.Name
			}
		}
		return why == ""
	})
	return why
}

// TestChangelog: a line has at most 25 words, and no line occurs twice.
func TestChangelog(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	const most = 25
	first := map[string]int{}
	for i, line := range strings.Split(string(b), "\n") {
		text, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		if n := len(strings.Fields(text)); n > most {
			t.Errorf("CHANGELOG.md:%d: %d words, at most %d: shorten or split it", i+1, n, most)
		}
		if old := first[text]; old > 0 {
			t.Errorf("CHANGELOG.md:%d: stands on line %d as well", i+1, old)
		}
		first[text] = i + 1
	}
	if len(first) == 0 {
		t.Error("CHANGELOG.md has no lines: this test looks at the wrong thing")
	}
}

// TestMakeHelp: make help lists every target with a description.
func TestMakeHelp(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("make", "-s", "help").Output()
	if err != nil {
		t.Skipf("make does not run: %v", err)
	}
	for line := range strings.Lines(string(b)) {
		target, _, ok := strings.Cut(line, ":")
		if ok && strings.Contains(line, " ## ") && !strings.HasPrefix(line, "\t") &&
			!strings.Contains("\n"+string(out), "\n"+target+" ") {
			t.Errorf("make help does not list %s", target)
		}
	}
}

func TestNoPrivatePaths(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	bad := []string{"/" + "work/", "/" + "root/", "task-" + "queue"}
	for _, path := range strings.Fields(string(out)) {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for _, s := range bad {
			if i := bytes.Index(b, []byte(s)); i >= 0 {
				t.Errorf("%s:%d: mentions %s", path, 1+bytes.Count(b[:i], []byte("\n")), fmt.Sprintf("%q", s))
			}
		}
	}
}
