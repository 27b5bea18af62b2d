// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type pkg struct {
	ImportPath, Dir, Export   string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
	DepOnly                   bool
	Module                    *struct{ Path string }
	Error                     *struct{ Err string }
	room                      string            // import path below the module
	exports                   map[string]string // of all packages: the file with their types
}

// list finds the packages, and the compiled types of all their imports.
func list(ctx context.Context, module string, patterns []string) ([]*pkg, error) {
	args := append([]string{
		"list", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,TestImports,XTestImports,DepOnly,Module,Error",
	},
		patterns...)
	out, err := goCommand(ctx, module, args...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var found []*pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{exports: exports}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Error != nil {
			return nil, errors.New(p.Error.Err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && p.Module != nil {
			p.room = strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *pkg) int { return strings.Compare(a.room, b.room) })
	return found, nil
}

func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", args[0], err, errs.Bytes(), out)
	}
	return out, nil
}

// mutant is one changed operator.
type mutant struct {
	room, file, function string
	line                 int
	text                 string // the line of code, with the change in brackets: a [< → <=] b
	tests                []test
	killed               bool
}

// A test is one function of a test binary, or one subtest of it.
type test struct {
	suite int // its place in binary.suites
	name  string
}

// pattern returns the value of -test.run for the test.
func (t test) pattern() string {
	parts := strings.SplitN(t.name, "/", 2)
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

func (m *mutant) key() string { return m.room + "\t" + m.function + "\t" + m.text }

// binary is a package with all its mutants in it, compiled into test binaries.
type binary struct {
	pkg     *pkg
	tests   []*pkg // packages with the tests; the first is the changed one
	suites  []suite
	work    string
	tree    string    // the copy of the module for the tests
	mutants []*mutant // the switch of mutant i is i
	drawn   []int     // the mutants to try
	long    time.Duration
}

// A suite is the test binary of one package.
type suite struct {
	pkg  *pkg
	path string
}

// An edit replaces n bytes of a file by text.
type edit struct {
	at, n int
	text  string
}

type source struct {
	name, path string
	text       []byte
	tree       *ast.File
}

// A choice reports whether a line of a file is changed; line 0 means any line of it.
type choice func(path string, line int) bool

// build compiles the tests with all mutants of the package. Mutants that do not compile
// are left out, line by line.
func (b *binary) build(ctx context.Context, module string, only choice) error {
	if err := os.MkdirAll(b.work, 0o700); err != nil {
		return err
	}
	v := changer{fset: token.NewFileSet(), room: b.pkg.room, unfit: map[string]bool{}, only: only}
	files, err := v.read(b.pkg)
	if err != nil {
		return err
	}
	for i, p := range b.tests {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			b.suites = append(b.suites, suite{p, filepath.Join(b.work, fmt.Sprintf("tests%d", i))})
		}
	}
	for {
		if err := b.change(files, v); err != nil {
			return err
		}
		if len(b.suites) == 0 || len(b.mutants) == 0 {
			return nil
		}
		err := b.compile(ctx, module)
		if err == nil || !leaveOut(err.Error(), files, v.unfit) {
			return err
		}
	}
}

// read parses the files of a package and finds the types in it.
func (v *changer) read(p *pkg) ([]*source, error) {
	var files []*source
	var trees []*ast.File
	for _, name := range p.GoFiles {
		s := &source{name: name, path: filepath.Join(p.Dir, name)}
		var err error
		if s.text, err = os.ReadFile(s.path); err != nil {
			return nil, err
		}
		if s.tree, err = parser.ParseFile(v.fset, s.path, s.text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		files, trees = append(files, s), append(trees, s.tree)
	}
	v.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(p.exports[path]) }
	conf := types.Config{Importer: importer.ForCompiler(v.fset, "gc", lookup)}
	var err error
	v.pkg, err = conf.Check(p.ImportPath, v.fset, trees, v.info)
	return files, err
}

// change writes the changed files, and the overlay that replaces the original files.
func (b *binary) change(files []*source, v changer) error {
	b.mutants = nil
	replace := map[string]string{}
	for _, s := range files {
		if !v.only(s.path, 0) {
			continue
		}
		of := v
		of.src, of.first = s, len(b.mutants)
		of.file()
		b.mutants = append(b.mutants, of.mutants...)
		replace[s.path] = filepath.Join(b.work, s.name)
		if err := os.WriteFile(replace[s.path], apply(s.text, of.edits), 0o600); err != nil {
			return err
		}
	}
	helper := filepath.Join(b.work, "mutant_switch.go")
	replace[filepath.Join(b.pkg.Dir, "mutant_switch.go")] = helper
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(helper, []byte("package "+v.pkg.Name()+fmt.Sprintf(helpers, len(b.mutants))), 0o600),
		os.WriteFile(b.overlay(), overlay, 0o600),
	)
}

func (b *binary) overlay() string { return filepath.Join(b.work, "overlay.json") }

func (b *binary) compile(ctx context.Context, module string) error {
	for _, s := range b.suites {
		_, err := goCommand(ctx, module, "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", b.overlay(), "-o", s.path,
			s.pkg.ImportPath)
		if err != nil {
			return err
		}
	}
	return nil
}

var place = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

// leaveOut marks the lines with compiler errors; it returns false if there is no new one.
func leaveOut(complaint string, files []*source, unfit map[string]bool) bool {
	more := false
	for _, m := range place.FindAllStringSubmatch(complaint, -1) {
		for _, s := range files {
			if filepath.Base(m[1]) != s.name {
				continue
			}
			if key := s.name + ":" + m[2]; !unfit[key] {
				unfit[key], more = true, true
				fmt.Fprintf(os.Stderr, "callvet-mutate: left out, the change does not compile: %s:%s\n", s.path, m[2])
			}
		}
	}
	return more
}

// changer walks over a file and puts a switch at every operator.
type changer struct {
	fset     *token.FileSet
	info     *types.Info
	pkg      *types.Package
	room     string
	src      *source
	unfit    map[string]bool // file:line of changes that do not compile
	only     choice
	first    int // switch of the first mutant
	function string
	mutants  []*mutant
	opens    []edit
	closes   []edit
	edits    []edit
}

func (v *changer) file() {
	for _, d := range v.src.tree.Decls {
		v.function = "package"
		if f, ok := d.(*ast.FuncDecl); ok {
			v.function = f.Name.Name
			if f.Recv != nil {
				v.function = receiver(f.Recv.List[0].Type) + "." + f.Name.Name
			}
		}
		ast.Inspect(d, v.visit)
	}
	// Inner expressions close before outer ones, and open after them.
	slices.Reverse(v.closes)
	v.edits = slices.Concat(v.closes, v.opens)
	slices.SortStableFunc(v.edits, func(a, b edit) int { return a.at - b.at })
}

func receiver(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

var (
	negated = map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL,
		token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
	}
	shifted = map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ,
		token.GEQ: token.GTR,
	}
	other = map[token.Token]token.Token{
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO,
		token.QUO: token.MUL, token.REM: token.MUL,
	}
	helper = map[token.Token]string{
		token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "Greater", token.GEQ: "AtLeast",
		token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul", token.QUO: "Quo", token.REM: "Rem",
	}
)

func (v *changer) visit(n ast.Node) bool {
	switch e := n.(type) {
	case *ast.GenDecl:
		return e.Tok != token.CONST
	case *ast.ArrayType:
		return false // a length is a constant
	case *ast.BinaryExpr:
		v.binary(e)
	case *ast.UnaryExpr:
		if e.Op == token.SUB && v.fit(e.OpPos) {
			id := v.add(e.OpPos, e.Op, token.ADD)
			v.open(e.OpPos, 1, "mutantNeg[%s](%d, ", v.typeOf(e), id)
			v.close(e.End())
		}
	case *ast.IncDecStmt:
		if !v.fit(e.TokPos) {
			return true
		}
		sign, to := "+", token.DEC
		if e.Tok == token.DEC {
			sign, to = "-", token.INC
		}
		id := v.add(e.TokPos, e.Tok, to)
		v.open(e.TokPos, 2, " %s= mutantOne[%s](%d)", sign, v.typeOf(e.X), id)
	}
	return true
}

func (v *changer) binary(e *ast.BinaryExpr) {
	if !v.fit(e.OpPos) {
		return
	}
	switch {
	case e.Op == token.EQL || e.Op == token.NEQ:
		id := v.add(e.OpPos, e.Op, negated[e.Op])
		v.open(e.Pos(), 0, "mutantNot(%d, ", id)
		v.close(e.End())
	case negated[e.Op] != 0:
		id := v.add(e.OpPos, e.Op, shifted[e.Op])
		v.add(e.OpPos, e.Op, negated[e.Op])
		v.call(e, e.X, id)
	case other[e.Op] != 0:
		if b, ok := v.info.Types[e].Type.Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
			return
		}
		v.call(e, e, v.add(e.OpPos, e.Op, other[e.Op]))
	}
}

func (v *changer) call(e *ast.BinaryExpr, typed ast.Expr, id int) {
	v.open(e.Pos(), 0, "mutant%s[%s](%d, ", helper[e.Op], v.typeOf(typed), id)
	v.open(e.OpPos, len(e.Op.String()), ",")
	v.close(e.End())
}

func (v *changer) fit(at token.Pos) bool {
	line := v.fset.Position(at).Line
	return !v.unfit[v.src.name+":"+strconv.Itoa(line)] && v.only(v.src.path, line)
}

func (v *changer) typeOf(e ast.Expr) string {
	return types.TypeString(types.Default(v.info.Types[e].Type), func(p *types.Package) string {
		if p == v.pkg {
			return ""
		}
		return p.Name()
	})
}

// add records a mutant and returns its switch.
func (v *changer) add(at token.Pos, from, to token.Token) int {
	p := v.fset.Position(at)
	start := bytes.LastIndexByte(v.src.text[:p.Offset], '\n') + 1
	end := start + bytes.IndexByte(append(v.src.text[start:len(v.src.text):len(v.src.text)], '\n'), '\n')
	head, tail := string(v.src.text[start:p.Offset]), string(v.src.text[p.Offset+len(from.String()):end])
	text := strings.TrimSpace(fmt.Sprintf("%s[%s → %s]%s", head, from, to, tail))
	v.mutants = append(v.mutants, &mutant{
		room: v.room, file: v.room + "/" + v.src.name, function: v.function, line: p.Line,
		text: strings.ReplaceAll(text, "\t", " "),
	})
	return v.first + len(v.mutants) - 1
}

func (v *changer) open(at token.Pos, n int, format string, args ...any) {
	v.opens = append(v.opens, edit{v.fset.Position(at).Offset, n, fmt.Sprintf(format, args...)})
}

func (v *changer) close(at token.Pos) {
	v.closes = append(v.closes, edit{v.fset.Position(at).Offset, 0, ")"})
}

func apply(text []byte, edits []edit) []byte {
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.at]...), e.text...)
		at = e.at + e.n
	}
	return append(out, text[at:]...)
}

// helpers is the file that is added to the package.
const helpers = `

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
)

var mutantActive = func() int {
	if n, err := strconv.Atoi(os.Getenv("MUTANT")); err == nil {
		return n
	}
	return -1
}()

var mutantTrail = func() *os.File {
	if path := os.Getenv("MUTANT_TRAIL"); path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		return f
	}
	return nil
}()

var mutantSeen [%d + 1]atomic.Bool

func mutantOn(id int) bool {
	if mutantTrail != nil && mutantSeen[id].CompareAndSwap(false, true) {
		_, _ = mutantTrail.WriteString(strconv.Itoa(id) + "\n")
	}
	return id == mutantActive
}

func mutantNot(id int, is bool) bool { return is != mutantOn(id) }

func mutantLess[T cmp.Ordered](id int, a, b T) bool {
	if mutantOn(id) {
		return a <= b
	}
	if mutantOn(id + 1) {
		return a >= b
	}
	return a < b
}

func mutantAtMost[T cmp.Ordered](id int, a, b T) bool {
	if mutantOn(id) {
		return a < b
	}
	if mutantOn(id + 1) {
		return a > b
	}
	return a <= b
}

func mutantGreater[T cmp.Ordered](id int, a, b T) bool {
	if mutantOn(id) {
		return a >= b
	}
	if mutantOn(id + 1) {
		return a <= b
	}
	return a > b
}

func mutantAtLeast[T cmp.Ordered](id int, a, b T) bool {
	if mutantOn(id) {
		return a > b
	}
	if mutantOn(id + 1) {
		return a < b
	}
	return a >= b
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type mutantNumber interface {
	mutantInteger | ~float32 | ~float64
}

func mutantAdd[T mutantNumber](id int, a, b T) T {
	if mutantOn(id) {
		return a - b
	}
	return a + b
}

func mutantSub[T mutantNumber](id int, a, b T) T {
	if mutantOn(id) {
		return a + b
	}
	return a - b
}

func mutantMul[T mutantNumber](id int, a, b T) T {
	if mutantOn(id) {
		return a / b
	}
	return a * b
}

func mutantQuo[T mutantNumber](id int, a, b T) T {
	if mutantOn(id) {
		return a * b
	}
	return a / b
}

func mutantRem[T mutantInteger](id int, a, b T) T {
	if mutantOn(id) {
		return a * b
	}
	return a %% b
}

func mutantNeg[T mutantNumber](id int, a T) T {
	if mutantOn(id) {
		return a
	}
	return -a
}

func mutantOne[T mutantNumber](id int) T {
	var one T = 1
	if mutantOn(id) {
		return -one
	}
	return one
}
`
