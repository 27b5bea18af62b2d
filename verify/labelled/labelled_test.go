// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labelled

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet/verify/proof"
)

const shipped = "../../examples/labelled-set"

// verified checks the set of a folder and returns the output, and whether the set passed.
func verified(t *testing.T, dir string) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	c := proof.New(&out, "labelled-set", proof.DefaultPart, nil)
	c.Problem(Verify(t.Context(), c, dir, ""))
	holds := c.Close()
	return out.String(), holds
}

// TestShipped: the shipped set agrees with its card.
func TestShipped(t *testing.T) {
	t.Parallel()
	if reported, holds := verified(t, shipped); !holds {
		t.Error(reported)
	}
}

// copied returns a copy of the set with one text of one file replaced.
func copied(t *testing.T, file, from, to string) string {
	t.Helper()
	dir, found := t.TempDir(), false
	err := filepath.WalkDir(shipped, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(shipped, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(dir, rel), 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.ToSlash(rel) == file {
			found = strings.Contains(string(b), from)
			b = []byte(strings.Replace(string(b), from, to, 1))
		}
		return os.WriteFile(filepath.Join(dir, rel), b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		t.Fatalf("%s has no %q any more: this test looks at the wrong thing", file, from)
	}
	return dir
}

// TestDamage: a set with one mistake fails, and the mistake is reported.
func TestDamage(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]struct{ file, from, to, reported string }{
		"a fixture of other arguments": {
			"pt-BR-shop.yaml",
			"mocks:\n      - {tool: get_order, args: {order_id: BR-20417}",
			"mocks:\n      - {tool: get_order, args: {order_id: BR-20418}",
			"get_order({\"order_id\":\"BR-20417\"}) has no fixture",
		},
		"an answer that misses": {
			"es-AR-wallet.yaml", `{answer: "El real está a $ 251,80."}`,
			`{answer: "El real está caro."}`, "ar-reais-for-carnival:  : fail: response_contains_any",
		},
		"arguments that do not matter": {
			"pt-BR-wallet.yaml", "args: {base: USD, quote: BRL}, params: {date:",
			"args: {base: USD, quote: BRL}, params: {quote: {type: string}, date:",
			"SHORT an argument has another value",
		},
		"calls that do not matter": {
			"es-AR-talk.yaml",
			"tags: [no-tool, thanks]\n    expect:\n      no_call: true\n      max_tool_calls: 0",
			"tags: [several-ways, thanks]\n    expect:\n      any_of: [{calls: []}, {calls: [{tool: search_help, args: {query: gracias}}]}]\n      max_tool_calls: 1", "SHORT a tool is called where none is needed",
		},
		"a task that lost its day": {
			"es-AR-daily.yaml", `as_of: "2026-10-07"`, `as_of: "2026-10-08"`,
			"it has not a day (as_of), which is that of its context",
		},
		"a task without a budget": {"es-AR-daily.yaml", "      max_requests: 2\n", "", "it has not a budget"},
		"a tag that is not so": {
			"pt-BR-talk.yaml", "tags: [no-tool, thanks]",
			"tags: [no-tool, thanks, outage]", "it has not the tag outage where that is so",
		},
		"a repeated question": {
			"es-AR-talk.yaml", "qué fiaca los lunes, por dios",
			"sabés a qué hora juega Boca el lunes?", "DIFFERS pairs of es-AR",
		},
		"a warning of lint": {
			"es-AR-talk.yaml", "qué fiaca los lunes, por dios",
			"sabés a qué hora juega Racing el domingo?", "the prompt says the same as that of the case",
		},
		"a card with a larger count": {
			"README.md", "| tasks | 150 |", "| tasks | 200 |",
			"DIFFERS figures of the card: tasks: the card has 200, and there are 150",
		},
		"a card with a smaller count": {
			"README.md", "| no tool is needed | 38 |\n", "",
			`the card does not have the figure "no tool is needed"`,
		},
		"an old script": {
			"scripts/gold.yaml", "model: gold", "model: old",
			"is not the script of the set",
		},
		"no yes before a payment": {
			"pt-BR-wallet.yaml", "Pode pagar, sim. Só essa", "Quanto era mesmo? Só essa",
			"DIFFERS plans are safe",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reported, holds := verified(t, copied(t, d.file, d.from, d.to))
			if holds || !strings.Contains(reported, d.reported) {
				t.Errorf("holds: %v, and wanted %q in:\n%s", holds, d.reported, reported)
			}
		})
	}
}

func TestMasked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Tem ônibus de BH pra Ouro Preto às 7h?": "Tem ônibus de N pra N N às N",
		"¿Dónde queda Salta? Voy en 2 días":      "¿Dónde queda N Voy en N días",
		"pedido br-20417":                        "pedido N",
	} {
		if got := masked(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if l := like("Where is Ana Lima from 12 to 14?", "Where is Bo Berg from 3 to 5?"); l.words != 1 || l.letters != 1 {
		t.Errorf("a template filled twice: %s", l)
	}
}
