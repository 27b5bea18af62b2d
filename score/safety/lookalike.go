// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// look is a form of a name that is equal for names that look alike. It ignores compatibility
// forms, letter case, invisible characters, word separators, and differences between letters and
// digits of the same shape. People confuse names with the same look: pay_invoice, pay-invoice,
// pay_lnvoice and раy_invoice (with two letters of Cyrillic) have the same look. Source: Unicode
// Technical Standard 39, section 4, restricted to the letters in names of tools.
func look(name string) string {
	var b strings.Builder
	for _, c := range norm.NFKD.String(name) {
		switch {
		case unicode.In(c, unicode.Mn, unicode.Cf), strings.ContainsRune("_-. ", c):
			continue
		}
		c = unicode.ToLower(c)
		if i := strings.IndexRune(shapes, c); i >= 0 {
			c = rune(latin[len([]rune(shapes[:i]))])
		}
		b.WriteRune(c)
	}
	return strings.NewReplacer("rn", "m", "vv", "w", "cl", "d").Replace(b.String())
}

// shapes are letters and digits that look like the Latin ones at the same place of latin.
const (
	shapes = "0135" + "iı|" + "аеорсухіјѕһӏԁԛԝвкмнтгп" + "αεοριντυχκγ" + "ɡⅼ"
	latin  = "oles" + "lll" + "aeopcyxljshldqwbkmhtrn" + "aeoplvtuxky" + "gl"
)
