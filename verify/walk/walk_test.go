// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package walk

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// suite has one case. The model writes the city as Lisbo\u0061, which occurs in no other text of a run.
const suite = `
callvet: 1
name: walk
tools:
  - name: get_weather
    parameters:
      type: object
      additionalProperties: false
      required: [city]
      properties:
        city: {type: string}
        days: {type: integer, maximum: 9}
cases:
  - id: case
    prompt: What is the weather in Lisboa?
    expect: {calls: [{tool: get_weather, args: {city: CITY}}]}
`

const answer = `{"id":"x","object":"chat.completion","created":1790000000,"model":"m-1","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":` +
	`{"name":"get_weather","arguments":"{\"city\":\"Lisbo\\u0061\",\"days\":DAYS}"}}]},` +
	`"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":640,"completion_tokens":22,"total_tokens":662}}`

const last = `{"id":"y","object":"chat.completion","created":1790000000,"model":"m-1","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"It is sunny."},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":640,"completion_tokens":22,"total_tokens":662}}`

// parses counts how often a text with the model's arguments is parsed or validated: before the cell is stored, for the
// sums, and for the report.
type parses struct{ run, sums, report int }

// stages counts the lines of a log.
func stages(log string) (n parses) {
	for line := range strings.Lines(log) {
		switch {
		case strings.Contains(line, "run.(*engine)"):
			n.run++
		case strings.Contains(line, "measure."):
			n.sums++
		default:
			n.report++
		}
	}
	return n
}

// TestParses counts the parses of the arguments of calls that pass, that fail, and that a mock answers. The two before
// the store are of the model's answer and of the text with the arguments in it.
func TestParses(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin, err := build(t.Context(), root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		name, city, days, more string
		want                   parses
	}{
		{"pass", "Lisboa", "3", "", parses{2, 2, 2}},
		{"wrong value", "Porto", "3", "", parses{6, 3, 13}},
		{"broken contract", "Lisboa", "30", "", parses{5, 2, 11}},
		{
			"mock", "Lisboa", "3", "    mocks: [{tool: get_weather, result: {sky: clear}}]\n    multi_turn: true\n",
			parses{2, 2, 2},
		},
	} {
		log := evaluate(t, bin, one.city, one.days, one.more)
		if got := stages(log); got != one.want {
			t.Errorf("%s: %+v parses, want %+v:\n%s", one.name, got, one.want, log)
		}
	}
}

// evaluate runs one case against a model server and returns the log of parses.
func evaluate(t *testing.T, bin, city, days, more string) string {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := strings.Replace(answer, "DAYS", days, 1)
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"role":"tool"`) {
			text = last
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}))
	defer model.Close()
	dir := t.TempDir()
	file, log := filepath.Join(dir, "suite.yaml"), filepath.Join(dir, "parses")
	text := strings.Replace(suite, "CITY", city+", days: 3", 1) + more
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, "run", file, "-m", "openai/m-1", "--base-url", model.URL+"/v1",
		"--db", filepath.Join(dir, "runs.db"), "-o", filepath.Join(dir, "report.html"))
	cmd.Env = []string{"CALLVET_PARSES=" + log, "CALLVET_MARK=u0061", "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	parses, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(parses)
}
