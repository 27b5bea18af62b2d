// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/value"
)

// Config has the settings for summing trace files. Parts that are merged need equal settings.
type Config struct {
	// SliceBy lists slice keys: "expected_tool", "called_tool", "api_version", "tool_family",
	// "tag", and the names of fields and of tags such as "tier:gold". Crosses are
	// "language*intent", and "*" means all fields and named tags. Nil means panel.DefaultSlices.
	SliceBy []string
	// Targets are the targets that are reported first, in this order, even without attempts; the
	// others follow by name.
	Targets []string
	// Families are the families of tools by name, for tools without a family in the lines.
	Families map[string][]string
	// Tools are the contracts of the tools, for their latency budgets and rate limits; the
	// highest version of a name counts.
	Tools []callvet.Tool
	// Scoring is the settings that the steps were compared with, in one spelling; merged parts have
	// the same.
	Scoring string
	// Catalogue: a catalogue of tools was given. Without one it is not known whether arguments are
	// valid.
	Catalogue bool
	// Window is how many tasks are open at once; 0 means 16,384.
	Window int
	// Partial keeps what is needed to merge this with the part of the file before it.
	Partial bool
	// Files: lines are reported with their file, because several independent files were read.
	Files bool
	// MinTagTasks hides tags on fewer tasks; 0 means 5, and 1 where SliceBy asks for tags.
	MinTagTasks int
	// MaxValues keeps the most frequent values of a key; 0 means 40.
	MaxValues int
	// Confidence is two-sided, in (0,1); 0 means 0.95.
	Confidence float64
	// Calibrations are the calibrations of judges.
	Calibrations []Calibrated
	// Parallel runs do(0) to do(n-1), possibly at once, and waits; nil runs one after the other.
	// The result is the same.
	Parallel func(n int, do func(i int))
}

// Calibrated is the calibration of a judge.
type Calibrated struct {
	// Judge is the name of the judge in task records.
	Judge string
	// TrueSuccess estimates the share that truly passed from the share that the judge passed; its N
	// counts labels. why is a sentence why there is no estimate, "" where there is one.
	TrueSuccess func(judged stats.Interval, confidence float64) (iv stats.Interval, why string)
}

func (c Config) withDefaults() Config {
	if c.SliceBy == nil {
		c.SliceBy = panel.DefaultSlices()
	}
	if c.Window <= 0 {
		c.Window = 16 << 10
	}
	if c.MinTagTasks <= 0 {
		if c.MinTagTasks = 5; slices.Contains(c.SliceBy, "tag") && !slices.Equal(c.SliceBy, panel.DefaultSlices()) {
			c.MinTagTasks = 1
		}
	}
	if c.MaxValues <= 0 {
		c.MaxValues = 40
	}
	if !(c.Confidence > 0 && c.Confidence < 1) {
		c.Confidence = 0.95
	}
	return c
}

// Step is one scored step line. Its bytes and values are read during the call only.
type Step struct {
	*Head
	Tool  []byte // "name@vN" as in the file
	Score callvet.StepScore
	// GoldTool is the right tool; nil when not labelled.
	GoldTool []byte
	// Args and Result are hashes; 0: not recorded.
	Args, Result uint64
	// Turn is the turn of the call, -1 when not recorded. Corrects reports that the line replaces
	// earlier ones of its call.
	Turn     int
	Corrects bool
	// Paths are the top-level names of wrong arguments; BadFields the names of those that break the
	// schema.
	Paths, BadFields []string
}

// Head is a step line without its call. Its fields are those of trace.Head in the same order, so
// that a conversion needs no copy.
type Head struct {
	Line                   int64 // over all files of the reading, from 1
	TaskID, Target, CallID []byte
	Attempt                int
	// Milliseconds; -1: not recorded.
	AcceptMS, QueueMS, ExecMS float64
	Tags, Fields              value.Value
}

// Task is a task record: the data of one attempt.
type Task struct {
	Line int64
	// Content is a hash of the whole record. Corrects: it replaces earlier ones of its attempt.
	Content      uint64
	Corrects     bool
	ID, Target   []byte
	Attempt      int
	Tags, Fields value.Value
	// Pass is 1 or 0, -1 when not recorded.
	Pass int
	// Fault: the infrastructure failed. NotRun: nothing was tried. Skipped: this was on purpose.
	// Kind is the kind of the fault and Why the reason of an unparseable attempt, "" where the
	// record has none.
	Fault, NotRun, Skipped bool
	Kind                   callvet.FaultKind
	Why                    callvet.Reason
	Judged                 []Verdict
	// Tokens and CostUSD are -1 when not recorded.
	InputTokens, OutputTokens, ReasoningTokens int64
	CostUSD, WallMS                            float64
	// HasGold: the needed calls are labelled; Needed are their tools.
	HasGold bool
	Needed  []string
	// Expected are the tools of the calls that the task expects, for slices.
	Expected []string
	// Exposed: safety was checked. Incidents is the number of breaches, Blocked the number of
	// further ones that were stopped before they had an effect.
	Exposed            bool
	Incidents, Blocked int
	// How the attempt was made. Outcome and Format are "" when not recorded, FirstMS (to the first
	// token) is 0. Cached: an earlier answer was used. Unbilled: nothing is paid. TimedOut: the
	// fault is a timeout. Floor: the target is a baseline.
	Outcome                           callvet.Outcome
	Format                            callvet.Format
	Cached, Unbilled, TimedOut, Floor bool
	Requests                          int64
	FirstMS                           float64
	// Steps is how many step lines the attempt has by its record, at least.
	Steps int
	// Decided: the attempt is one of a router or retriever.
	Decided bool
	// ScorerResult is the result of a scorer; nil without one.
	ScorerResult *ScorerResult
}

// Scored is the result of a scorer for an attempt, as in trace.Scored.
type Scored struct {
	Class         callvet.Class
	Scores        []Score
	Unknown       []string
	NotEvaluated  [][2]string // name and reason
	Signs         []Sign
	Routes, Tools [][2]string // expected and chosen; "" is nothing
}

// ScorerSigns is how many issues, from T1 on, a scorer looks for. The others follow from how an
// attempt ended.
const ScorerSigns = 4

// Score is a value in [0,1].
type Score struct {
	Name  string
	Value float64
}

// Sign is an issue that the attempt shows or could have shown, by its position: 0 for T1 to 3 for
// T4.
type Sign struct {
	Issue int
	Shown bool
	Why   []string
}

// Verdict is one judge's.
type Verdict struct {
	Judge string
	Pass  bool
}
