// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// look is what a name looks like: compatibility forms, letter case, invisible characters,
// what separates words, and letters and digits that share a shape do not matter. Names of one
// look are taken for one another; pay_invoice, pay-invoice, pay_lnvoice and раy_invoice (with
// two letters of Cyrillic) have one.
// Source: Unicode Technical Standard 39, section 4, for the letters that names of tools have.
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
