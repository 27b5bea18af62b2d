// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
	"github.com/callvet/callvet/value"
)

// lines writes labels: each count of (truth, verdict) with a stratum.
func lines(prefix string, tp, fn, tn, fp int, rest string) string {
	var b strings.Builder
	n := 0
	for _, c := range []struct {
		count         int
		truth, judged bool
	}{{tp, true, true}, {fn, true, false}, {tn, false, false}, {fp, false, true}} {
		for range c.count {
			n++
			fmt.Fprintf(&b, `{"task_id":"%s%d","by":"ana","pass":%t,"judged":[{"judge":"j","pass":%t}]%s}`+"\n", prefix,
				n, c.truth, c.judged, rest)
		}
	}
	return b.String()
}

// outputOf is the fingerprint of the only output of a task.
func outputOf(task string) string {
	sum := sha256.Sum256([]byte(task))
	return hex.EncodeToString(sum[:])
}

var taskID = regexp.MustCompile(`"task_id":"([^"]*)"`)

// onRun makes labels those on the outputs of verdicts.
func onRun(text string) string {
	return taskID.ReplaceAllStringFunc(text, func(s string) string {
		return s + `,"fingerprint":"` + outputOf(taskID.FindStringSubmatch(s)[1]) + `"`
	})
}

func verdicts(prefix string, pass, fail int) []labels.Judgement {
	var out []labels.Judgement
	for i := range pass + fail {
		got := i < pass
		out = append(out,
			labels.Judgement{
				Key:         labels.Key{TaskID: fmt.Sprint(prefix, i+1)},
				Fingerprint: outputOf(fmt.Sprint(prefix, i+1)),
				Verdict:     labels.Verdict{Judge: labels.Judge{Name: "j"}, Pass: &got},
			})
	}
	return out
}

func reported(t *testing.T, text string, run []labels.Judgement) *labels.CalibrationReport {
	t.Helper()
	ls, problems := read(t, text)
	if problems != nil {
		t.Fatal(problems)
	}
	r, err := labels.Calibrate(labels.CalibrationInput{Judge: "j", Labels: ls, Run: run})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read(t *testing.T, text string) ([]labels.Label, []callvet.Problem) {
	t.Helper()
	ls, problems, err := labels.Read(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	return ls, problems
}

func near(a, b float64) bool { return math.Abs(a-b) < 5e-4 }

func TestCalibrateTransport(t *testing.T) {
	t.Parallel()
	r := reported(t, lines("c", 95, 5, 45, 5, `,"stratum":"random"`), verdicts("r", 160, 40))
	if d := cmp.Diff(labels.AgreementTable{TruePass: 95, FalseFail: 5, TrueFail: 45, FalsePass: 5}, r.Table); d != "" {
		t.Error(d)
	}
	if !r.Usable || !near(r.Sensitivity.Point, .95) || !near(r.Specificity.Point, .9) || !near(r.Youden.Point, .85) ||
		r.MCC == nil {
		t.Errorf("%+v", r)
	}
	s := r.Success[0]
	// Rogan and Gladen by hand: (.8 + .9 - 1) / .85
	if s.Design != labels.Transport || s.Refused != "" || !near(s.True.Point, .7/.85) || !s.True.Usable() ||
		s.Raw.Point != .8 {
		t.Errorf("%+v", s)
	}
	if !(s.True.Lower < s.True.Point && s.True.Point < s.True.Upper) {
		t.Errorf("%+v", s.True)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		labels, reason string
		pass, fail     int
	}{
		"chance": {
			lines("c", 14, 9, 6, 21, ""),
			"no better than chance (J = sensitivity + specificity - 1 = -0.169)", 35, 15,
		},
		"no true fail":  {lines("c", 30, 1, 0, 0, ""), "no labelled task truly failed", 35, 15},
		"no true pass":  {lines("c", 0, 0, 30, 1, ""), "no labelled task truly passed", 35, 15},
		"too few":       {lines("c", 30, 1, 5, 0, ""), "too few labels", 35, 15},
		"mismatch":      {lines("c", 170, 10, 18, 2, ""), "impossible for a judge with this sensitivity", 200, 0},
		"nothing known": {lines("c", 20, 1, 20, 1, ""), "nothing was judged", 0, 0},
	} {
		run := verdicts("r", c.pass, c.fail)
		if c.pass+c.fail == 0 {
			run = []labels.Judgement{{
				Key:     labels.Key{TaskID: "r1"},
				Verdict: labels.Verdict{Judge: labels.Judge{Name: "j"}},
			}}
		}
		s := reported(t, c.labels, run).Success[0]
		if s.True.Usable() || s.True.Lower != 0 || s.True.Upper != 1 || !strings.Contains(s.Refused, c.reason) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestCalibrateInternal: labels of the run itself, drawn by verdict, give true
// success and no plain sensitivity.
func TestCalibrateInternal(t *testing.T) {
	t.Parallel()
	frame := `,"frame":{"judge_pass":160,"judge_fail":40}`
	// 36 of 40 judge-passes and 10 of 40 judge-fails truly passed.
	var text strings.Builder
	for i := range 80 {
		id, stratum, truth := i+1, "judge_pass", i < 36
		if i >= 40 {
			id, stratum, truth = 160+i-39, "judge_fail", i < 50
		}
		fmt.Fprintf(&text, `{"task_id":"r%d","by":"ana","pass":%t,"stratum":%q%s}`+"\n", id, truth, stratum, frame)
	}
	r := reported(t, onRun(text.String()), verdicts("r", 160, 40))
	s := r.Success[0]
	if s.Design != labels.Internal || s.Labels != 80 || !near(s.True.Point, .8*.9+.2*.25) || s.Refused != "" {
		t.Errorf("%+v", s)
	}
	if r.Table.N() != 0 || r.Usable || !strings.Contains(r.Why, "drawn by the judge's verdict") {
		t.Errorf("labels drawn by verdict made a table: %+v %s", r.Table, r.Why)
	}
	// Begg and Greenes by hand: s = .8*.9 / (.8*.9 + .2*.25), t = .2*.75 / (.2*.75 + .8*.1)
	if v := r.Verified; v == nil || !near(*v.Sensitivity, .72/.77) || !near(*v.Specificity, .15/.23) {
		t.Errorf("%+v", v)
	}
	c := r.Calibration("labels.jsonl", time.Unix(0, 0))
	if _, err := c.Transported(); err == nil || c.Design != labels.Internal {
		t.Error("labels drawn by verdict were taken to another run")
	}
	// Where no labelled task truly failed, nothing is known of J.
	all := reported(t, onRun(lines("r", 20, 5, 0, 0, `,"stratum":"random"`)), verdicts("r", 20, 5)).Success[0]
	if all.Design != labels.Internal || all.Advice != "" || all.True.Point != 1 {
		t.Errorf("%+v", all)
	}
}

func TestCalibrateRoles(t *testing.T) {
	t.Parallel()
	text := lines("c", 95, 5, 45, 5, "") + lines("v", 20, 20, 10, 10, `,"role":"test"`)
	r := reported(t, text, nil)
	if r.Table.N() != 150 || r.Check == nil || r.Check.Table.N() != 60 || !r.Check.Drifted || r.Usable {
		t.Errorf("held-out labels: %+v %+v", r.Table, r.Check)
	}
	if !strings.Contains(r.Why, "held-out labels contradict") {
		t.Error(r.Why)
	}
}

func TestCalibrateJudges(t *testing.T) {
	t.Parallel()
	old := strings.ReplaceAll(lines("c", 20, 2, 15, 1, ""), `{"judge":"j"`, `{"judge":"j","prompt_hash":"old"`)
	r := reported(t, old, verdicts("r", 30, 10))
	if r.Counts.OtherJudge != 38 || r.Table.N() != 0 || r.Success[0].True.Usable() ||
		!strings.Contains(strings.Join(r.Warnings, " "), "prompt hash differs") {
		t.Errorf("a calibration of another judge was used: %+v %v", r.Counts, r.Warnings)
	}
	ls, _ := read(t, old+lines("d", 3, 0, 0, 0, ""))
	for name, want := range map[string]string{"j": "2 different judges", "k": "no verdict is of that judge"} {
		if _, err := labels.Calibrate(labels.CalibrationInput{Judge: name, Labels: ls}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	id := labels.Judge{Name: "j", PromptHash: "old"}.ID()
	if r, err := labels.Calibrate(labels.CalibrationInput{Judge: id, Labels: ls}); err != nil || r.Table.N() != 38 {
		t.Errorf("%s: %v", id, err)
	}
	c := r.Calibration("f", time.Unix(0, 0))
	if err := c.AppliesTo(labels.Judge{Name: "j", Model: "m"}); err == nil ||
		!strings.Contains(err.Error(), "[model] differs") {
		t.Error(err)
	}
	if err := c.AppliesTo(r.Judge); err != nil {
		t.Error(err)
	}
}

func TestHumans(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `{"task_id":"t%d","by":"ana","pass":%t,"judged":[{"judge":"j","pass":%t}]}`+"\n", i,
			i < 30, i%5 > 0)
		if i < 20 {
			fmt.Fprintf(&b, `{"task_id":"t%d","by":"bo","pass":%t}`+"\n", i, i != 3)
		}
	}
	r := reported(t, b.String(), nil)
	if r.Humans == nil || r.Humans.Things != 20 || len(r.Humans.Pairs) != 1 || r.Humans.Pairs[0].N != 20 ||
		r.Humans.Pairs[0].Same != 19 {
		t.Fatalf("%+v", r.Humans)
	}
	// ana passed all 20: kappa shows nothing, AC1 does.
	if p := r.Humans.Pairs[0]; p.AC1.Point < .9 || r.Counts.Disputed != 1 {
		t.Errorf("%+v %+v", p, r.Counts)
	}
}

// TestRepeats: attempts of one task count as what they are worth.
func TestRepeatedAttempts(t *testing.T) {
	t.Parallel()
	var run []labels.Judgement
	for i := range 200 {
		pass := i%50 < 40
		run = append(run, labels.Judgement{
			Key:     labels.Key{TaskID: fmt.Sprint("r", i%50), Attempt: i / 50},
			Verdict: labels.Verdict{Judge: labels.Judge{Name: "j"}, Pass: &pass},
		})
	}
	s := reported(t, lines("c", 95, 5, 95, 5, ""), run).Success[0]
	if s.Tasks != 50 || s.Judged != 200 || s.Raw.NEff > 51 {
		t.Errorf("four equal attempts a task count as independent: %+v", s.Raw)
	}
	alone, _ := labels.TrueSuccess(reported(t, lines("c", 95, 5, 95, 5, ""), verdicts("r", 40, 10)).Success[0].Raw,
		judge.Calibration{TruePositive: 95, LabelledPass: 100, TrueNegative: 95, LabelledFail: 100}, labels.Task, .95)
	if math.Abs(alone.Lower-s.True.Lower) > .02 {
		t.Errorf("%v, of single attempts %v", s.True, alone)
	}
}

// TestUselessJudge: few transported labels and a weak judge are worse than labels alone.
func TestUselessJudge(t *testing.T) {
	t.Parallel()
	s := reported(t, lines("c", 90, 10, 80, 20, ""), verdicts("r", 820, 180)).Success[0]
	if !strings.Contains(s.Advice, "your judge adds nothing with 1000 tasks and 200 labels") {
		t.Errorf("%+v", s)
	}
}

func TestQueue(t *testing.T) {
	t.Parallel()
	var run []labels.CalibrationItem
	for _, v := range verdicts("r", 80, 20) {
		run = append(run,
			labels.CalibrationItem{Key: v.Key, Fingerprint: v.Fingerprint, Judged: []labels.Verdict{v.Verdict}},
			labels.CalibrationItem{
				Key: labels.Key{TaskID: v.TaskID, Attempt: 1}, Fingerprint: v.Fingerprint,
				Judged: []labels.Verdict{v.Verdict},
			})
	}
	q := labels.Queue{Strategy: labels.AtRandom, N: 20, By: "ana", Role: labels.Calibrating, Judge: "j", Seed: 1}
	first, err := q.Next(run, nil)
	if err != nil || len(first) != 20 {
		t.Fatal(len(first), err)
	}
	seen := map[string]bool{}
	pass := true
	for i, l := range first {
		if seen[l.TaskID] || l.Stratum != labels.Random || *l.Frame != (labels.Frame{JudgePass: 160, JudgeFail: 40}) {
			t.Errorf("%+v", l)
		}
		seen[l.TaskID] = true
		first[i].Pass = &pass
	}
	second, err := q.Next(run, first)
	if err != nil || len(second) != 20 || seen[second[0].TaskID] {
		t.Error("labelled again", err)
	}
	other := q
	other.By, other.Double = "bo", .1
	mixed, err := other.Next(run, first)
	twice := 0
	for _, l := range mixed {
		if seen[l.TaskID] {
			twice++
		}
	}
	if err != nil || len(mixed) != 20 || twice != 2 {
		t.Errorf("%d of %d are labelled by ana too, %v", twice, len(mixed), err)
	}
	neyman := q
	neyman.Strategy = labels.Neyman
	drawn, err := neyman.Next(run, nil)
	fails := 0
	for _, l := range drawn {
		if l.Stratum == labels.JudgeFail {
			fails++
		}
	}
	if err != nil || len(drawn) != 20 || fails != 5 {
		t.Errorf("%d of %d judge-fails, %v", fails, len(drawn), err)
	}
	neyman.Judge = "k"
	if _, err := neyman.Next(run, nil); err == nil {
		t.Error("drawn by a judge that said nothing")
	}
}

// attemptsOf repeats labels: each of the tasks has so many labelled attempts, alike.
func attemptsOf(text string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for i := range n {
			b.WriteString(strings.Replace(line, `,"by"`, fmt.Sprintf(`,"attempt":%d,"by"`, i), 1))
		}
	}
	return b.String()
}

// TestAttemptsOfATask: five labelled attempts of a task in which judge and people always
// say the same are worth one, for every interval, for the refusals and in the file.
func TestAttemptsOfATask(t *testing.T) {
	t.Parallel()
	once := reported(t, lines("c", 36, 4, 18, 2, `,"stratum":"random"`), verdicts("r", 160, 40))
	five := reported(t, attemptsOf(lines("c", 36, 4, 18, 2, `,"stratum":"random"`), 5), verdicts("r", 160, 40))
	if five.Table.N() != 5*once.Table.N() || once.Worth != (labels.Worth{Pass: 40, Fail: 20}) {
		t.Fatalf("%+v, %+v", once.Worth, five.Table)
	}
	if !(five.Worth.Pass > 30 && five.Worth.Pass < 45 && five.Worth.Fail > 15 && five.Worth.Fail < 25) {
		t.Errorf("worth %+v, and there are 40 and 20 tasks", five.Worth)
	}
	for name, iv := range map[string][2]stats.Interval{
		"sensitivity": {once.Sensitivity, five.Sensitivity}, "specificity": {once.Specificity, five.Specificity},
		"J":   {once.Youden, five.Youden},
		"PPV": {once.PPV, five.PPV}, "agreement": {once.Accuracy, five.Accuracy}, "kappa": {once.Kappa, five.Kappa},
		"AC1":          {once.AC1, five.AC1},
		"true success": {once.Success[0].True, five.Success[0].True},
	} {
		a, b := iv[0].Upper-iv[0].Lower, iv[1].Upper-iv[1].Lower
		if math.Abs(b/a-1) > 0.15 || math.Abs(iv[0].Point-iv[1].Point) > 1e-9 {
			t.Errorf("%s: %.4f wide for one attempt a task, %.4f for five", name, a, b)
		}
	}
	few := reported(t, attemptsOf(lines("c", 4, 0, 4, 0, `,"stratum":"random"`), 5), verdicts("r", 60, 40))
	if s := few.Success[0]; s.True.Status != judge.TooFewUnits || few.Usable ||
		!strings.Contains(few.Why,
			"20 labelled passes worth 4.0 (several are of one task) and 20 labelled fails worth 4.0") {
		t.Errorf("%+v %s", s.True, few.Why)
	}
	var b bytes.Buffer
	made := five.Calibration("labels.jsonl", time.Unix(0, 0))
	if _, err := made.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	back, err := labels.ParseCalibration("c.json", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	c, err := back.Transported()
	if err != nil || c != five.Table.Calibration(five.Worth) {
		t.Errorf("%+v, %v", c, err)
	}
	lied := bytes.Replace(b.Bytes(), fmt.Appendf(nil, `"pass": %v`, five.Worth.Pass), []byte(`"pass": 9000`), 1)
	if _, err := labels.ParseCalibration("c.json", lied); err == nil ||
		!strings.Contains(err.Error(), "worth more than there are") {
		t.Errorf("%v", err)
	}
}

func FuzzCalibration(f *testing.F) {
	schema, err := contract.Compile(labels.CalibrationSchema())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(
		[]byte(
			`{"format":"callvet.calibration","version":1,"judge":{"judge":"j"},"unit":"task","design":"transport","table":{"tp":1,"fn":0,"tn":2,"fp":0},"strata":[{"stratum":"random","tp":1,"fn":0,"tn":2,"fp":0}],"roles":["calibration"],"made":"2026-01-01T00:00:00Z","stats_version":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := labels.ParseCalibration("f", data)
		if err != nil {
			return
		}
		if v, err := value.Parse(bytes.TrimSpace(data)); err != nil || !schema.Valid(v) {
			t.Fatalf("accepted against the schema: %s", data)
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := labels.ParseCalibration("f", b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if b2, _ := json.Marshal(again); string(b) != string(b2) {
			t.Fatalf("%s is not %s", b, b2)
		}
	})
}

// TestCalibrationTrueSuccess: a judged share is corrected; labels of one run only, and verdicts of
// another judge, give no estimate and the reason.
func TestCalibrationTrueSuccess(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	good := reported(t, lines("t", 90, 10, 90, 10, `,"stratum":"random"`), nil).Calibration("labels.jsonl", made)
	own := reported(t, lines("t", 30, 2, 12, 28, `,"stratum":"judge_pass"`), nil).Calibration("labels.jsonl", made)
	judged := stats.ClopperPearson(66, 100, 0.95, stats.TwoSided)
	for name, c := range map[string]struct {
		cal          labels.Calibration
		against, why string
		point        float64
	}{
		"corrected":     {cal: good, point: 0.7},
		"another judge": {cal: good, against: "it was made for another", why: "it was made for another"},
		"its own run":   {cal: own, against: "it was made for another", why: "hold for their own run only"},
	} {
		iv, why := c.cal.TrueSuccess(judged, 0.95, c.against)
		if !strings.Contains(why, c.why) || (why == "") != (c.why == "") || (c.why == "") != iv.Defined() ||
			iv.Defined() && !near(iv.Point, c.point) {
			t.Errorf("%s: %+v %q", name, iv, why)
		}
	}
}
