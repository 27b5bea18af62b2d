// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report/plain"
)

// flagWords write a flag for a shell.
func flagWords(g app.Setting) string {
	name := "--" + g.Name
	if g.Name == "model" {
		name = "-m"
	}
	if len(g.Values) == 0 {
		return " " + name
	}
	var b strings.Builder
	for _, v := range g.Values {
		if v == "true" || v == "false" { // of a switch, or of a flag that takes any text
			b.WriteString(" " + name + "=" + v)
			continue
		}
		b.WriteString(" " + name + " " + plain.ShellQuote(v))
	}
	return b.String()
}

// Hints writes actions as command lines that can be typed unchanged: with the named store, and for
// a new run with all flags of the old one.
type Hints struct {
	DB string // --db as it was given; empty: the usual store
}

// Text is the command line of an action. man is the manifest of the run; nil where the
// verb needs none.
func (h Hints) Text(act app.Action, man *results.Manifest) string {
	line := ""
	switch act.Verb {
	case app.VerbAgain:
		line = RunAgain(man, inFlags(act.With))
	case app.VerbResume:
		line = "callvet run --resume " + act.Run + words(inFlags(act.With))
	case app.VerbSweep:
		line = "callvet select sweep --resume " + act.Run + words(inFlags(act.With))
	case app.VerbShow:
		line = "callvet show " + act.Run
		if act.Case != "" {
			line += " " + plain.ShellQuote(act.Case)
		}
	case app.VerbAll:
		line = "callvet show " + act.Run + " --all"
	case app.VerbReport:
		line = "callvet report " + act.Run + " -o report.html"
	case app.VerbDiff:
		line = "callvet diff " + act.Run + " OTHER-RUN"
	case app.VerbList:
		line = "callvet runs"
	case app.VerbDelete:
		line = "callvet runs --delete " + act.Run
	case app.VerbJudge:
		line = "callvet judge run " + act.Run + words(act.With)
	case app.VerbLint:
		return "callvet lint " + plain.ShellQuote(act.Case) + words(inFlags(act.With))
	case app.VerbScore:
		return "callvet score " + plain.ShellQuote(act.Case) + words(inFlags(act.With))
	}
	if h.DB != "" {
		line += " --db " + plain.ShellQuote(h.DB)
	}
	return line
}

func words(flags []app.Setting) string {
	var b strings.Builder
	for _, g := range flags {
		b.WriteString(flagWords(g))
	}
	return b.String()
}

// RunAgain is the command that made a run, with other values for some of its flags.
func RunAgain(man *results.Manifest, with []app.Setting) string {
	flags, command := man.Origin.Flags, cmp.Or(man.Origin.Command, "run")
	if flags == nil {
		flags = fromSpecs(man)
	}
	asks := func(name string) bool {
		return slices.ContainsFunc(with, func(w app.Setting) bool { return w.Name == name })
	}
	part := []string{"until-decided", "gates", "baseline", "ledger"} // gates are not about cases chosen for their outcome
	flags = slices.DeleteFunc(slices.Clone(flags), func(g app.Setting) bool {
		return asks(g.Name) || man.Until != nil && asks("failed-from") && slices.Contains(part, g.Name)
	})
	// Targets and judges come first, as people write it.
	slices.SortStableFunc(flags, func(a, b app.Setting) int { return cmp.Compare(rank(a.Name), rank(b.Name)) })
	return "callvet " + command + " " + plain.ShellQuote(man.Path) + words(flags) + words(with)
}

func rank(name string) int {
	if i := slices.Index([]string{"targets", "model", "tools", "base-url"}, name); i >= 0 {
		return i
	}
	return 9
}

// fromSpecs are the flags of a run of an earlier version, which did not store them: the settings
// that all its targets share.
func fromSpecs(m *results.Manifest) []app.Setting {
	if m.TargetFile != "" {
		return []app.Setting{app.One("targets", m.TargetFile)}
	}
	if len(m.Specs) == 0 {
		return nil
	}
	out := []app.Setting{{Name: "model", Values: app.TargetNames(m.Specs)}}
	for _, f := range []struct {
		name string
		of   func(*app.TargetSpec) string
	}{
		{"base-url", func(s *app.TargetSpec) string { return s.BaseURL }},
		{"api-key-env", func(s *app.TargetSpec) string { return s.APIKeyEnv }},
		{"system", func(s *app.TargetSpec) string { return s.SystemPrompt }},
		{"tool-choice", func(s *app.TargetSpec) string { return s.ToolChoice }},
	} {
		v := f.of(&m.Specs[0])
		if v != "" && !slices.ContainsFunc(m.Specs, func(s app.TargetSpec) bool { return f.of(&s) != v }) {
			out = append(out, app.One(f.name, v))
		}
	}
	if m.Prices != "" {
		out = append(out, app.One("prices", m.Prices))
	}
	return out
}

// FlagOf is the flag of a field of a request.
func FlagOf(field string) string {
	if flag, other := flagNames()[field]; other {
		return flag
	}
	return "--" + strings.ReplaceAll(field, "_", "-")
}

// flagNames are the flags with other names than their fields.
func flagNames() map[string]string {
	return map[string]string{
		"output":            "-o",
		"outputs":           "-o",
		"traces":            "--run",
		"calibrations":      "--calibration",
		"targets":           "-m",
		"target":            "-m",
		"system_prompt":     "--system",
		"extra":             "--set",
		"target_file":       "--targets",
		"headers":           "--header",
		"repeats":           "--repeat",
		"run_tags":          "--run-tag",
		"slices":            "--slice",
		"format":            "--from",
		"max_cost_usd":      "--max-cost",
		"timeout_ms":        "--timeout",
		"abstain_percent":   "--abstain",
		"abstain_routes":    "--abstain-route",
		"configurations":    "--weights",
		"models":            "--model",
		"only":              "--tool",
		"meta_model":        "--meta",
		"optimization_mode": "--mode",
		"selection_ratio":   "--selection",
		"max_seconds":       "--max-time",
		"n_trials":          "--trials",
	}
}

// inFlags writes settings as their flags.
func inFlags(fields []app.Setting) []app.Setting {
	out := make([]app.Setting, len(fields))
	for i, f := range fields {
		out[i] = app.Setting{Name: strings.TrimPrefix(FlagOf(f.Name), "--"), Values: f.Values}
	}
	return out
}

// FlagNotes names the flags of a notice.
func FlagNotes(code string) string {
	switch code {
	case "redacted":
		return " (--keep KIND keeps personal data)"
	case "programs":
		return "; look at them, then --allow-exec"
	case "withheld":
		return "; --exec-env NAME passes a variable on"
	case "unpriced":
		return "; give it with --prices (callvet prices LIST makes such a table)"
	}
	return ""
}
