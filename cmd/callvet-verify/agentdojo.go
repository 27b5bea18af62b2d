// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/score/safety"
)

// agentDojo re-derives AgentDojo's table from its runs, read by our importer, and
// holds the injected-instruction rule against the benchmark's own verdicts.
func agentDojo(out io.Writer, data string) (bool, error) {
	root := filepath.Join(data, "sets", "agentdojo")
	suites, err := readDojo(filepath.Join(root, "suites"))
	if err != nil {
		return false, err
	}
	ok, folders := true, 0
	for _, folder := range []string{"open", "heldout"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "runs", "*.jsonl.gz"))
		if err != nil {
			return false, fmt.Errorf("list runs: %w", err)
		}
		if len(files) == 0 {
			continue
		}
		folders++
		good, err := dojoFolder(out, filepath.Join(root, folder), files, suites)
		if err != nil {
			return false, err
		}
		ok = ok && good
	}
	if folders == 0 {
		return false, fmt.Errorf("list runs: none in %s; set CALLVET_TESTDATA", root)
	}
	return ok, nil
}

// dojoScore is a row of the official table.
type dojoScore struct {
	Utility       *float64 `json:"utility_pct"`
	UnderAttack   *float64 `json:"utility_under_attack_pct"`
	ASR           *float64 `json:"targeted_asr_pct"`
	UserTasks     int      `json:"n_user_tasks"`
	Subset        int      `json:"n_v1_subset"`
	SecurityTrue  *int     `json:"security_true"`
	UtilityUnder  *int     `json:"utility_true"`
	UtilityNormal *int     `json:"utility"`
}

// dojoTally counts one file of runs.
type dojoTally struct {
	pipeline, attack        string
	n, useful, hit          int
	scored, agree           int
	falseAlarm, missed, cut int
	naive                   [3]int
}

func dojoFolder(out io.Writer, dir string, files []string, suites map[string]*dojoSuite) (bool, error) {
	official := map[string]dojoScore{}
	if b, err := os.ReadFile(filepath.Join(dir, "scores.json")); err == nil {
		if err := json.Unmarshal(b, &official); err != nil {
			return false, fmt.Errorf("read official scores: %w", err)
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("read official scores: %w", err)
	}
	var ts []*dojoTally
	for _, f := range files {
		t, err := dojoFile(f, suites)
		if err != nil {
			return false, fmt.Errorf("read %s: %w", filepath.Base(f), err)
		}
		ts = append(ts, t)
	}
	fmt.Fprintf(out, "%s: the official table, re-derived\n", filepath.Base(dir))
	right, rows := 0, 0
	for _, t := range ts {
		row, known := official[t.pipeline+"|"+t.attack]
		if !known {
			fmt.Fprintf(out, "      %-32s %-24s %3d attempts, not in the official table\n", t.pipeline, t.attack, t.n)
			continue
		}
		rows++
		if t.table(out, row) {
			right++
		}
	}
	fmt.Fprintf(out, "%d of %d rows agree to 0.01\n\n", right, rows)
	good, pipelines := dojoAgreement(out, filepath.Base(dir), ts)
	dojoRemainder(out, suites)
	return rows+pipelines > 0 && right == rows && good == pipelines, nil
}

// table prints a row beside the official one.
func (t *dojoTally) table(out io.Writer, row dojoScore) bool {
	ok := true
	cell := func(name string, got, n int, want *float64) string {
		if want == nil {
			return ""
		}
		pct := 100 * float64(got) / float64(n)
		ok = ok && math.Abs(pct-*want) <= 0.01
		return fmt.Sprintf("  %s %.2f (official %.2f)", name, pct, *want)
	}
	line := cell("utility", t.useful, t.n, row.Utility) + cell("under attack", t.useful, t.n, row.UnderAttack) + cell("attack success", t.hit, t.n, row.ASR)
	ok = ok && (row.SecurityTrue == nil || row.Subset != t.n || *row.SecurityTrue == t.hit)
	mark := "ok"
	if !ok {
		mark = "WRONG"
	}
	fmt.Fprintf(out, "%-5s %-32s %-24s n=%d%s\n", mark, t.pipeline, t.attack, t.n, line)
	return ok
}

// dojoAgreement prints how the rule fares beside what guessing from names and
// values gets right, and counts the runs in which it is better than the best guess
// (or right in every case).
func dojoAgreement(out io.Writer, folder string, ts []*dojoTally) (good, all int) {
	fmt.Fprintf(out, "%s: injected instruction followed, beside the official verdict\n", folder)
	fmt.Fprintf(out, "%-5s %-32s %-24s %4s %7s %7s %7s %7s %7s %6s %6s %8s\n",
		"", "pipeline", "attack", "n", "never", "names", "values", "floor", "ours", "false+", "false-", "cut off")
	n, agree := 0, 0
	for _, t := range ts {
		if t.scored == 0 {
			continue
		}
		all++
		pct := func(k int) float64 { return 100 * float64(k) / float64(t.scored) }
		floor := slices.Max(t.naive[:])
		mark := "WRONG"
		if t.agree > floor || t.agree == t.scored {
			mark = "ok"
			good++
		}
		fmt.Fprintf(out, "%-5s %-32s %-24s %4d %7.2f %7.2f %7.2f %7.2f %7.2f %6d %6d %8d\n", mark, t.pipeline, t.attack, t.scored,
			pct(t.naive[0]), pct(t.naive[1]), pct(t.naive[2]), pct(floor), pct(t.agree), t.falseAlarm, t.missed, t.cut)
		n, agree = n+t.scored, agree+t.agree
	}
	fmt.Fprintf(out, "better than the floor in %d of %d; %d of %d verdicts agree (%.2f %%)\n\n", good, all, agree, n, 100*float64(agree)/float64(max(n, 1)))
	return good, all
}

// dojoRemainder prints where the verdicts differ, by the attacker's task, and starts anew.
func dojoRemainder(out io.Writer, suites map[string]*dojoSuite) {
	fmt.Fprintln(out, "where they differ (docs/SAFETY.md says why): false alarms, misses")
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		s := suites[name]
		for _, id := range slices.Sorted(maps.Keys(s.injections)) {
			if s.alarms[id]+s.misses[id] > 0 {
				fmt.Fprintf(out, "      %-32s %3d %3d\n", name+"/"+id, s.alarms[id], s.misses[id])
			}
		}
		clear(s.alarms)
		clear(s.misses)
	}
}

func dojoFile(path string, suites map[string]*dojoSuite) (t *dojoTally, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	imp, err := foreign.Open(f, foreign.Options{Format: "agentdojo"})
	if err != nil {
		return nil, err
	}
	pipeline, attack, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".jsonl.gz"), "__")
	t = &dojoTally{pipeline: pipeline, attack: attack}
	for a, err := range imp.Attempts() {
		if err != nil {
			return nil, err
		}
		if err := t.add(&a, suites); err != nil {
			return nil, fmt.Errorf("%s: %w", a.Trace.CaseID, err)
		}
	}
	if bad := imp.Report().Log.Bad; bad > 0 {
		return nil, fmt.Errorf("%d lines cannot be read: %w", bad, callvet.ErrInvalid)
	}
	return t, nil
}

// add counts an attempt: in the first version's subset, user tasks only.
func (t *dojoTally) add(a *trace.Attempt, suites map[string]*dojoSuite) error {
	id := strings.Split(a.Trace.CaseID, "/")
	if !strings.HasPrefix(id[1], "user_task") {
		return nil
	}
	attacked := len(id) > 2
	if attacked && id[0] == "workspace" {
		if n, err := strconv.Atoi(id[2][strings.LastIndexByte(id[2], '_')+1:]); err == nil && n > 5 {
			return nil
		}
	}
	t.n++
	if a.Pass != nil && *a.Pass {
		t.useful++
	}
	if !attacked {
		return nil
	}
	official := len(a.Safety) > 0
	if official {
		t.hit++
	}
	s := suites[id[0]]
	if s == nil || s.injections[id[2]] == nil {
		return fmt.Errorf("suite or injection task is not described: %w", callvet.ErrNotFound)
	}
	return t.judge(a, s, id[1], id[2], official)
}

// judge sets our verdict, and those of guessing, beside the official one.
func (t *dojoTally) judge(a *trace.Attempt, s *dojoSuite, user, injection string, official bool) error {
	t.scored++
	calls := a.Trace.Calls()
	for i, guess := range []bool{false, s.injections[injection].names(calls), s.injections[injection].values(calls)} {
		if guess == official {
			t.naive[i]++
		}
	}
	c, err := safety.New(s.tools, safety.Rules{Attacks: []safety.Attack{s.attack(injection, user)}})
	if err != nil {
		return err
	}
	report := c.Check(a.Input, &a.Trace)
	o := report.Attacks[0]
	ours := o.Followed && !o.Undone
	switch {
	case ours == official:
		t.agree++
	case official && a.Trace.Fault != nil: // the run broke off; the benchmark counts it for the attacker
		t.cut++
	case ours:
		t.falseAlarm++
		s.alarms[injection]++
	default:
		t.missed++
		s.misses[injection]++
	}
	return nil
}
