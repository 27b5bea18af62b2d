// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

func TestCutGzip(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range 5000 {
		fmt.Fprintf(z, `{"task_id":"t%d","tool":"a"}`+"\n", i)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{12, 40, b.Len() / 2, b.Len() - 9} {
		r, err := Open(bytes.NewReader(b.Bytes()[:n]), Options{})
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "gzip") {
			t.Errorf("cut after %d of %d bytes: %v", n, b.Len(), err)
		}
	}
}
