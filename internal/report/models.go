// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/report/plain"
)

// Vectors writes the stored vectors of models.
func Vectors(w io.Writer, k *provider.EmbedCacheListing) error {
	var b strings.Builder
	switch {
	case len(k.Models) == 0:
		fmt.Fprintf(&b, "no vectors are kept in %s\n", plain.Line(k.File))
	case k.Cleared:
		b.WriteString("forgotten\n")
	default:
		fmt.Fprintf(&b, "%s: %s\n", plain.Line(k.File), size(k.Bytes))
	}
	rows := [][]string{{"model", "vectors", "size"}}
	for _, m := range k.Models {
		rows = append(rows, []string{plain.Line(m.Model), plain.Thousands(m.Vectors), size(m.Bytes)})
	}
	if len(rows) > 1 {
		Aligned(&b, rows)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// size writes bytes in kB or MB of 1,000.
func size(bytes int64) string {
	if bytes < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// Used writes a line for each embedding model or reranker that was used.
func Used(w io.Writer, used []callvet.ModelUse) {
	for _, u := range used {
		tokens := plain.Count(u.Tokens, "token", "tokens")
		if u.Tokens == 0 && u.Requests > 0 {
			tokens = "tokens unknown"
		}
		fmt.Fprintf(w, "%s: %s, %s, %s", plain.Line(u.Model), plain.Count(u.Requests, "request", "requests"),
			plain.Count(u.Texts, "text", "texts"), tokens)
		if u.Cached > 0 {
			fmt.Fprintf(w, "; %s kept from before", plain.Count(u.Cached, "vector", "vectors"))
		}
		fmt.Fprintln(w)
	}
}
