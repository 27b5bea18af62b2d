// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/labels"
)

// goldAnswer is a gold sheet as the API gives it.
type goldAnswer struct {
	Tasks []struct {
		Turns []struct {
			Calls []struct {
				Args string `json:"args_json"`
			}
		}
	}
	Text     string
	Open     int
	Edges    map[string]int
	Problems []struct{ Task, Key, Message, Fix string }
	Tools    []cases.GoldTool
}

// askedTraces are tasks with their questions, so that they can be cases.
const askedTraces = `{"task_id":"t1","call_id":"1","tool":"get_weather","args":{"city":"Paris","station":12345678901234567890},"result":{"temp":18},"status":"ok"}
{"type":"task","task_id":"t1","goal":"Weather in Paris?","pass":true,"final_answer":"18 degrees"}
{"task_id":"t2","call_id":"1","tool":"get_weather","args":{"city":"Rome"},"result":null,"error":"no station","status":"exec_error"}
{"type":"task","task_id":"t2","goal":"Weather in Oslo?","pass":false}
{"type":"task","task_id":"t3","goal":"Thanks!","pass":true,"final_answer":"You are welcome."}
`

// TestGoldSheet: a sheet is drawn with proposals, and an expert's edits are checked at their
// places. The sheet and the suite made from it equal those of the command line.
func TestGoldSheet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := give[tracesAnswer](t, s, "ana", "POST", "/api/traces?collection=asked", askedTraces)
	path := "/api/traces/" + made.ID + "/gold"
	sheet := give[goldAnswer](t, s, "ana", "GET", path+"?n=3&edge=0.7&by=language", "")
	if len(sheet.Tasks) != 3 || sheet.Open != 3 || len(sheet.Edges) == 0 || len(sheet.Problems) != 0 {
		t.Fatalf("%+v", sheet)
	}
	if len(sheet.Tools) != 1 || sheet.Tools[0].Name != "get_weather" {
		t.Errorf("tools: %+v", sheet.Tools)
	}
	local := s.app.With(app.Uploads{"asked": []byte(askedTraces)})
	want, err := cases.ProposeGold(t.Context(), local, cases.GoldDrawRequest{
		Side: app.Side{Traces: "asked"}, N: 3, Edge: 0.7,
		By: []string{"language"}, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Text, sheet.Text); d != "" {
		t.Errorf("sheet (-program +server):\n%s", d)
	}

	if got := sheet.Text; !strings.Contains(got, "12345678901234567890") ||
		!strings.Contains(string(jsonOf(sheet.Tasks)), `12345678901234567890`) {
		t.Errorf("a large number is rounded: %s %+v", got, sheet.Tasks)
	}

	drawn, _, err := labels.ReadGold("sheet", []byte(sheet.Text))
	if err != nil {
		t.Fatal(err)
	}
	send := func(tasks []labels.GoldTask) string { return string(jsonOf(labels.Gold{Version: 1, Tasks: tasks})) }
	task := func(id string) *labels.GoldTask {
		for i := range drawn.Tasks {
			if drawn.Tasks[i].Task == id {
				return &drawn.Tasks[i]
			}
		}
		t.Fatalf("no task %s", id)
		return nil
	}
	yes, no, oslo, tool, none := true, false, json.RawMessage(`{"city":"Oslo"}`), "get_weather", labels.NoCheck
	for _, id := range []string{"t1", "t2", "t3"} {
		task(id).Checked = &yes
	}
	turn := &task("t2").Turns[0]
	turn.Needed, turn.Calls = &yes, []labels.GoldCall{{Tool: &tool, Args: nil, Check: &none}}
	wrong := give[goldAnswer](t, s, "ana", "POST", path, send(drawn.Tasks))
	if len(wrong.Problems) != 1 || wrong.Problems[0].Task != "t2" ||
		wrong.Problems[0].Key != "turns[0].calls[0].args" || wrong.Problems[0].Fix == "" {
		t.Fatalf("%+v", wrong.Problems)
	}
	if code, answer := s.ask(t, "ana", "POST", path+"/apply", send(drawn.Tasks)); code != 422 ||
		!strings.Contains(answer, "args is blank") {
		t.Errorf("a blank is applied: %d %s", code, answer)
	}

	turn.Calls[0].Args = oslo
	task("t3").Turns[0].Needed = &no
	good := give[goldAnswer](t, s, "ana", "POST", path+"?tools=true", send(drawn.Tasks))
	if len(good.Problems) != 0 || good.Open != 0 || len(good.Tools) != 1 {
		t.Fatalf("%+v", good)
	}
	file := give[goldAnswer](t, s, "ana", "POST", path, good.Text)
	if d := cmp.Diff(good.Text, file.Text); d != "" || len(file.Problems) != 0 {
		t.Errorf("the file that is downloaded is not the sheet that is read (-made +read): %v\n%s", file.Problems, d)
	}
	for _, form := range []string{cases.GoldSuiteForm, cases.GoldTracesForm} {
		got := give[struct {
			Text               string
			Tasks, Open, Cases int
			Lost               []string
		}](t, s, "ana", "POST", path+"/apply?to="+form, good.Text)
		want, told, err := cases.MakeGold(t.Context(), s.app.With(app.Uploads{
			"asked": []byte(askedTraces),
			"sheet": []byte(good.Text),
		}), cases.GoldApplyRequest{File: "sheet", Side: app.Side{Traces: "asked"}}, form, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got.Text); d != "" || got.Tasks != 3 || got.Open != 0 ||
			got.Cases != told.Cases {
			t.Errorf("%s (-program +server): %+v\n%s", form, got, d)
		}
		if form == cases.GoldSuiteForm {
			suite := give[struct {
				ID    string `json:"suite_id"`
				Cases []any  `json:"test_cases"`
			}](t, s, "ana", "POST", "/api/tool-eval/import", got.Text)
			if suite.ID == "" || !strings.Contains(got.Text, "Oslo") {
				t.Errorf("%+v\n%s", suite, got.Text)
			}
		}
	}
	for what, c := range map[string]struct {
		as, method, path, body, says string
		want                         int
	}{
		"another's collection": {"bo", "GET", "", "", "not found", 404},
		"no sheet":             {"ana", "POST", "", `{"tasks":[]}`, "callvet_gold", 422},
		"an unknown key": {
			"ana", "POST", "", `{"callvet_gold":1,"tasks":[{"task":"t1","neded":true}]}`,
			"neded", 422,
		},
		"too many tasks":      {"ana", "GET", "?n=501", "", "n", 422},
		"an unknown form":     {"ana", "POST", "/apply?to=csv", good.Text, "to", 422},
		"a task of elsewhere": {"ana", "POST", "/apply", strings.Replace(good.Text, "'t1'", "'t9'", 1), "t9", 422},
	} {
		if code, answer := s.ask(t, c.as, c.method, path+c.path, c.body); code != c.want ||
			!strings.Contains(answer, c.says) {
			t.Errorf("%s: %d %s", what, code, answer)
		}
	}
}
