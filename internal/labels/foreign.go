// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet/internal/doc"
)

// records yields the objects of a JSON array, or of JSON lines, with their number.
func records(data []byte, each func(n int, raw json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	list := bytes.HasPrefix(bytes.TrimSpace(data), []byte("["))
	if list {
		if _, err := d.Token(); err != nil {
			return err
		}
	}
	for n := 1; !list || d.More(); n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) && !list {
			return nil
		} else if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		if err := each(n, raw); err != nil {
			return err
		}
	}
	return nil
}

// others removes the members that are not read: other tools write many.
func others(doc.Unknown) {}

// feedback is one record of a LangSmith export.
type feedback struct {
	RunID     string          `json:"run_id"`
	Key       string          `json:"key"`
	Score     json.RawMessage `json:"score"`
	Value     json.RawMessage `json:"value"`
	Comment   *string         `json:"comment"`
	CreatedAt string          `json:"created_at"`
	Source    *struct {
		Type     string `json:"type"`
		UserID   string `json:"user_id"`
		UserName string `json:"user_name"`
	} `json:"feedback_source"`
}

// langSmith reads feedback: the run is the task, its score the verdict.
func (m *Imported) langSmith(data []byte, o ImportOptions) error {
	keys := map[string]bool{}
	form := doc.Of[feedback]().WithNulls()
	err := records(data, func(n int, raw json.RawMessage) error {
		var f feedback
		if err := readAs(form, raw, &f, others); err != nil {
			m.problem(o, n, err)
			return nil
		}
		if o.Key != "" && f.Key != o.Key {
			m.Lost["feedback "+f.Key]++
			return nil
		}
		keys[f.Key] = true
		l := Label{Key: Key{TaskID: f.RunID}, Line: n, At: stamp(f.CreatedAt)}
		if f.Comment != nil {
			l.Note = *f.Comment
		}
		if s := f.Source; s != nil {
			if s.Type == "model" {
				m.Lost["feedback of models"]++
				return nil
			}
			if l.By = s.UserName; l.By == "" {
				l.By = s.UserID
			}
		}
		verdict := f.Score
		if blank(verdict) {
			verdict = f.Value
		}
		if err := l.verdict(verdict); err != nil {
			m.problem(o, n, err)
			return nil
		}
		m.give(l, o)
		return nil
	})
	if err == nil && len(keys) > 1 {
		return fmt.Errorf("the feedback has %d keys (%s): name one with --key", len(keys),
			strings.Join(sorted(keys), ", "))
	}
	return err
}

// verdict reads 0, 1, a boolean or a word as a verdict, another number as a rating.
func (l *Label) verdict(raw json.RawMessage) error {
	if blank(raw) {
		return nil
	}
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
	}
	if x, err := finite(text); err == nil {
		if *x == 0 || *x == 1 {
			pass := *x == 1
			l.Pass = &pass
			return nil
		}
		l.Rating = x
		return nil
	}
	var err error
	l.Pass, err = passWord(text)
	return err
}

// stamp reads a time; the zero time where it is none.
func stamp(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

func sorted(set map[string]bool) []string {
	var out []string
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// labelStudioTask is one record of a Label Studio export.
type labelStudioTask struct {
	ID   json.RawMessage `json:"id"`
	Data struct {
		TaskID  string `json:"task_id"`
		Target  string `json:"target"`
		Attempt int    `json:"attempt"`
		CallID  string `json:"call_id"`
	} `json:"data"`
	Annotations []struct {
		CompletedBy json.RawMessage `json:"completed_by"`
		Cancelled   bool            `json:"was_cancelled"`
		CreatedAt   string          `json:"created_at"`
		Result      []struct {
			Type  string `json:"type"`
			Value struct {
				Choices []string        `json:"choices"`
				Rating  *float64        `json:"rating"`
				Text    json.RawMessage `json:"text"`
			} `json:"value"`
		} `json:"result"`
	} `json:"annotations"`
}

// labelStudio reads the JSON export: data.task_id names the task, choices and
// ratings are the verdict, texts the note.
func (m *Imported) labelStudio(data []byte, o ImportOptions) error {
	form := doc.Of[labelStudioTask]().WithNulls()
	return records(data, func(n int, raw json.RawMessage) error {
		var t labelStudioTask
		if err := readAs(form, raw, &t, others); err != nil {
			m.problem(o, n, err)
			return nil
		}
		if len(t.Annotations) == 0 {
			m.Open++
		}
		for _, a := range t.Annotations {
			if a.Cancelled {
				m.Open++
				continue
			}
			l := Label{Key: Key{
				TaskID: t.Data.TaskID, Target: t.Data.Target, Attempt: t.Data.Attempt,
				CallID: t.Data.CallID,
			}, Line: n, At: stamp(a.CreatedAt)}
			if l.TaskID == "" {
				l.TaskID = strings.Trim(string(t.ID), `"`)
			}
			l.By = personOf(a.CompletedBy)
			var bad error
			for _, r := range a.Result {
				switch {
				case len(r.Value.Choices) == 1:
					l.Pass, bad = passWord(r.Value.Choices[0])
				case r.Value.Rating != nil:
					l.Rating = r.Value.Rating
				case len(r.Value.Text) > 0:
					l.Note = texts(r.Value.Text)
				default:
					m.Lost["result of type "+r.Type]++
				}
				if bad != nil {
					break
				}
			}
			if bad != nil {
				m.problem(o, n, bad)
				continue
			}
			m.give(l, o)
		}
		return nil
	})
}

// personOf reads a user's number, or the object with the address.
func personOf(raw json.RawMessage) string {
	var u struct {
		Email string `json:"email"`
	}
	if json.Unmarshal(raw, &u) == nil && u.Email != "" {
		return u.Email
	}
	if len(raw) > 0 && raw[0] != '{' && string(raw) != "null" {
		return strings.Trim(string(raw), `"`)
	}
	return ""
}

func texts(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var many []string
	_ = json.Unmarshal(raw, &many) // other forms have no text
	return strings.Join(many, "\n")
}
