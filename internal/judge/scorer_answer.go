// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
)

// scorerAnswer is a program's output about an attempt.
type scorerAnswer struct {
	ID *json.Number `json:"id"`
	// Error is the reason why it cannot judge the attempt.
	Error string `json:"error"`
	score.Opinion
}

// parse reads the answer to question id. The error is about the line, or is the program's own error
// about the attempt.
func parse(line []byte, id int64) (score.Opinion, error) {
	if _, err := value.Parse(line); err != nil { // which refuses repeated keys, and depth
		return score.Opinion{}, fmt.Errorf(
			"its answer cannot be read: %w: %s (standard output is for answers: print all else to standard error)",
			callvet.ErrInvalid, shown(line))
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var a scorerAnswer
	if err := dec.Decode(&a); err != nil {
		return score.Opinion{}, fmt.Errorf("its answer cannot be read: %s: %w: %s",
			strings.TrimPrefix(err.Error(), "json: "), callvet.ErrInvalid, shown(line))
	}
	switch {
	case a.ID == nil:
		return score.Opinion{}, fmt.Errorf("its answer has no id: %w: %s", callvet.ErrInvalid, shown(line))
	case a.ID.String() != strconv.FormatInt(id, 10):
		return score.Opinion{}, fmt.Errorf("it answered question %s, and another was asked: %w",
			shown([]byte(a.ID.String())), callvet.ErrInvalid)
	case a.Error != "":
		return score.Opinion{}, &scorerRefusal{a.Error}
	}
	return a.Opinion, a.Valid()
}

// scorerRefusal is a program's error about an attempt that it cannot judge. The program keeps
// running.
type scorerRefusal struct{ reason string }

func (r *scorerRefusal) Error() string { return "it could not judge the attempt: " + r.reason }

// shown is the beginning of a line, for an error.
func shown(line []byte) string {
	const most = 120
	s := strings.ToValidUTF8(string(line[:min(len(line), most)]), "\uFFFD")
	if len(line) > most {
		s += " …"
	}
	return strconv.Quote(s)
}
