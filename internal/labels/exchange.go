// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/value"
)

// Foreign forms that Import reads.
const (
	FormCSV         = "csv"
	FormLabels      = "labels" // callvet's own form, and its to-do files
	FormLangSmith   = "langsmith"
	FormLabelStudio = "label-studio"
)

// Forms lists the forms that Import reads.
func Forms() []string { return []string{FormCSV, FormLabels, FormLangSmith, FormLabelStudio} }

// ImportOptions are options for reading labels of other tools.
type ImportOptions struct {
	// Form is one of Forms; "" is detected.
	Form string
	// By and Role are the defaults of labels without them.
	By   string
	Role Role
	// Key names the feedback to import, where a LangSmith export has several kinds.
	Key string
	// Name is the file's name in problems, Now the default time of labels.
	Name string
	Now  time.Time
}

// Imported is what Import read.
type Imported struct {
	Form   string
	Labels []Label
	// Open rows have no verdict yet and are left out.
	Open int
	// Lost counts data that labels cannot contain, by a sentence for a person.
	Lost     map[string]int
	Problems []callvet.Problem
}

func (m *Imported) problem(o ImportOptions, line int, err error) {
	m.Problems = append(m.Problems,
		callvet.Problem{Position: callvet.Position{File: o.Name, Line: line}, Code: "bad-label", Message: err.Error()})
}

// give adds a label, after filling in the defaults.
func (m *Imported) give(l Label, o ImportOptions) {
	if l.By == "" {
		l.By = o.By
	}
	if l.At.IsZero() {
		l.At = o.Now
	}
	if l.Unit == "" {
		l.Unit = Task
		switch {
		case l.CallID != "":
			l.Unit = Call
		case l.Turn != 0:
			l.Unit = Turn
		}
	}
	if l.Role == "" {
		l.Role = o.Role
	}
	if l.Role == "" {
		l.Role = Calibrating
	}
	if l.Pass == nil && l.Rating == nil {
		m.Open++
		return
	}
	if err := l.check(); err != nil {
		m.problem(o, l.Line, err)
		return
	}
	m.Labels = append(m.Labels, l)
}

// Import reads labels that other tools wrote. Invalid rows are problems with their line (or the
// number of the record, for JSON documents). The error wraps callvet.ErrInvalid when nothing can
// be read.
func Import(r io.Reader, o ImportOptions) (*Imported, error) {
	data, err := doc.ReadWhole(r, maxFile)
	if err != nil {
		return nil, fmt.Errorf("import labels: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	m := &Imported{Form: o.Form, Lost: map[string]int{}}
	if m.Form == "" {
		m.Form = detect(data)
	}
	switch m.Form {
	case FormCSV:
		err = m.csv(data, o)
	case FormLabels:
		m.lines(data, o)
	case FormLangSmith:
		err = m.langSmith(data, o)
	case FormLabelStudio:
		err = m.labelStudio(data, o)
	default:
		err = unknownWord("form", m.Form, Forms())
	}
	if err != nil {
		return nil, fmt.Errorf("import labels: %w: %w", callvet.ErrInvalid, err)
	}
	return m, nil
}

// detect detects the form by the first record.
func detect(data []byte) string {
	head := bytes.TrimSpace(data)
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return FormCSV
	}
	d := json.NewDecoder(bytes.NewReader(head))
	if head[0] == '[' {
		_, _ = d.Token()
	}
	var first map[string]json.RawMessage
	if d.Decode(&first) != nil {
		return FormLabels
	}
	switch {
	case first["annotations"] != nil:
		return FormLabelStudio
	case first["run_id"] != nil && first["key"] != nil:
		return FormLangSmith
	}
	return FormLabels
}

// todo is a line of a to-do file: a label with the shown output.
type todo struct {
	Label
	Question json.RawMessage `json:"question"`
	Evidence json.RawMessage `json:"evidence"`
	Goal     json.RawMessage `json:"goal"`
	Steps    json.RawMessage `json:"steps"`
	Answer   json.RawMessage `json:"answer"`
	Turns    json.RawMessage `json:"turns"`
	Drawn    []byte          `json:"drawn"`
}

// lines reads callvet's own lines; lines of a to-do file contain more than a label.
func (m *Imported) lines(data []byte, o ImportOptions) {
	form, drawn := doc.Of[todo](), doc.Of[hiddenDraw]()
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var row todo
		err := readAs(form, line, &row, nil)
		l := row.Label
		l.Version = 0
		if err == nil && l.Pass == nil && l.Rating == nil {
			m.Open++
			continue
		}
		if err == nil && row.Drawn != nil {
			err = l.readDrawn(drawn, row.Drawn)
		}
		if err != nil {
			m.problem(o, n, err)
			continue
		}
		l.Line = n
		m.give(l, o)
	}
}

// readAs reads one JSON value into what into points to; unknown is as doc.Type has it.
func readAs(form *doc.Type, text []byte, into any, unknown func(doc.Unknown)) error {
	v, err := value.Parse(text)
	if err != nil {
		return errors.New(value.Reason(err))
	}
	if w := form.Read(v, into, unknown); w != nil {
		return w
	}
	return nil
}

// hiddenDraw is the sampling data of a to-do line, hidden from the labeller.
type hiddenDraw struct {
	Stratum Stratum   `json:"stratum,omitempty" form:"words=random|judge_pass|judge_fail"`
	Frame   *Frame    `json:"frame,omitempty"`
	Draw    *Draw     `json:"draw,omitempty"`
	Judged  []Verdict `json:"judged,omitempty"`
}

// Drawn is the draw of a label and the judges' verdicts, for a to-do file: in base64, because a
// visible verdict would influence the labeller.
func (l *Label) Drawn() string {
	b, _ := json.Marshal(hiddenDraw{l.Stratum, l.Frame, l.Draw, l.Judged}) // strings and finite numbers only
	return base64.StdEncoding.EncodeToString(b)
}

func (l *Label) readDrawn(form *doc.Type, text []byte) error {
	var d hiddenDraw
	if err := readAs(form, text, &d, nil); err != nil {
		return fmt.Errorf(`"drawn" is not what callvet wrote: %w`, err)
	}
	l.Stratum, l.Frame, l.Draw, l.Judged = d.Stratum, d.Frame, d.Draw, d.Judged
	return nil
}

func blank(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

// csv reads a table with a header; task_id and pass or rating are required.
func (m *Imported) csv(data []byte, o ImportOptions) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(header[i]))
	}
	if !slices.Contains(header, "task_id") || !slices.Contains(header, "pass") && !slices.Contains(header, "rating") {
		return fmt.Errorf("the header has no task_id with pass or rating: %s", strings.Join(header, ", "))
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err // an unclosed quote: the following records cannot be separated
		}
		line, _ := r.FieldPos(0)
		l, err := m.csvRow(header, row)
		if err != nil {
			m.problem(o, line, err)
			continue
		}
		l.Line = line
		m.give(l, o)
	}
}

func (m *Imported) csvRow(header, row []string) (l Label, err error) {
	for i, cell := range row {
		cell = plain.Uncell(strings.TrimSpace(cell))
		if cell == "" {
			continue
		}
		if i >= len(header) {
			return l, fmt.Errorf("has %d columns, the header %d", len(row), len(header))
		}
		if err := m.csvCell(&l, header[i], cell); err != nil {
			return l, fmt.Errorf("%s: %w", header[i], err)
		}
	}
	return l, nil
}

func (m *Imported) csvCell(l *Label, column, cell string) (err error) {
	switch column {
	case "task_id":
		l.TaskID = cell
	case "target":
		l.Target = cell
	case "call_id":
		l.CallID = cell
	case "attempt":
		l.Attempt, err = strconv.Atoi(cell)
	case "turn":
		l.Turn, err = strconv.Atoi(cell)
	case "unit":
		l.Unit = Unit(cell)
	case "by":
		l.By = cell
	case "role":
		l.Role = Role(cell)
	case "note":
		l.Note = cell
	case "stratum":
		l.Stratum = Stratum(cell)
	case "fingerprint":
		l.Fingerprint = cell
	case "run":
		l.Run = cell
	case "at":
		l.At, err = time.Parse(time.RFC3339, cell)
	case "pass":
		l.Pass, err = passWord(cell)
	case "rating":
		l.Rating, err = finite(cell)
	default:
		m.Lost["column "+column]++
	}
	return err
}

func finite(s string) (*float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x-x != 0 {
		return nil, fmt.Errorf("%q is no number", s)
	}
	return &x, nil
}

// passWord reads a verdict as people write it.
func passWord(s string) (*bool, error) {
	yes := []string{"true", "t", "yes", "y", "1", "pass", "passed", "correct", "success", "good"}
	no := []string{"false", "f", "no", "n", "0", "fail", "failed", "incorrect", "failure", "bad"}
	s = strings.ToLower(strings.TrimSpace(s))
	pass := slices.Contains(yes, s)
	if !pass && !slices.Contains(no, s) {
		return nil, fmt.Errorf("%q is neither pass nor fail", s)
	}
	return &pass, nil
}

// Export writes labels as "jsonl" or "csv". The table leaves out the frame and the judges'
// verdicts; texts that a spreadsheet would read as a formula begin with an apostrophe, which
// Import removes. The error wraps callvet.ErrInvalid for any other form.
func Export(w io.Writer, ls []Label, form string) error {
	switch form {
	case "jsonl":
		for _, l := range ls {
			line, err := encode(l)
			if err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return fmt.Errorf("export labels: %w", err)
			}
		}
		return nil
	case FormCSV:
		return exportCSV(w, ls)
	}
	return fmt.Errorf("export labels: %w: %w", callvet.ErrInvalid,
		unknownWord("form", form, []string{"jsonl", FormCSV}))
}

func exportCSV(w io.Writer, ls []Label) error {
	c := csv.NewWriter(w)
	header := []string{
		"task_id", "target", "attempt", "unit", "call_id", "by", "role", "pass", "rating", "note", "at",
		"stratum", "fingerprint", "run",
	}
	turns := slices.ContainsFunc(ls, func(l Label) bool { return l.Turn > 0 })
	if turns {
		header = append(header, "turn")
	}
	_ = c.Write(header) // Error reports it
	for _, l := range ls {
		pass, rating, at := "", "", ""
		if l.Pass != nil {
			pass = strconv.FormatBool(*l.Pass)
		}
		if l.Rating != nil {
			rating = number(*l.Rating)
		}
		if !l.At.IsZero() {
			at = l.At.Format(time.RFC3339)
		}
		row := []string{
			plain.Cell(l.TaskID), plain.Cell(l.Target), strconv.Itoa(l.Attempt), string(l.Unit), plain.Cell(l.CallID),
			plain.Cell(l.By), string(l.Role),
			pass, rating, plain.Cell(l.Note), at, string(l.Stratum), l.Fingerprint, plain.Cell(l.Run),
		}
		switch {
		case turns && l.Turn > 0:
			row = append(row, strconv.Itoa(l.Turn))
		case turns:
			row = append(row, "")
		}
		_ = c.Write(row)
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("export labels: %w", err)
	}
	return nil
}

// NotImported lists the data that was not imported, for a person.
func (m *Imported) NotImported() []string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(m.Lost)) {
		out = append(out, fmt.Sprintf("not carried: %s (%d)", what, m.Lost[what]))
	}
	return out
}
