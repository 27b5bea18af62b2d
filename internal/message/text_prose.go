// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// readProse reads the calls in a text that has no mark and contains more than calls. Each must
// name an offered tool.
func (r *reader) readProse() {
	for _, spelling := range [...]func(){
		r.readActions, r.readAgentCode, r.readListed, r.readTags, r.readFences,
		r.readShell, r.readLines,
	} {
		if spelling(); r.done() {
			return
		}
	}
}

// readListed reads the calls in <tools>…</tools>, which the prompts of Hermes have around the tools.
func (r *reader) readListed() {
	for rest := r.text; !r.done() && r.known; {
		_, after, begins := strings.Cut(rest, "<tools>")
		inside, after, ends := strings.Cut(after, "</tools>")
		if !begins || !ends {
			return
		}
		in := reader{tools: r.tools, known: true, prose: true, budget: r.budget}
		in.readWhole(inside)
		r.Calls, r.Unreadable, r.budget, rest = in.Calls, in.Unreadable, in.budget, after
	}
}

const actionLabel = "Action"

// hasAction reports whether a text may have a step of ReAct.
func hasAction(text string) bool {
	return strings.Contains(strings.ToLower(text), "action")
}

// readActions reads the calls of ReAct:
//
//	Action: NAME            Action: NAME(key="value")      Action:
//	Action Input: {…}       Action: NAME[value]            {"action": …, "action_input": {…}}
//
// Text after an observation was invented by the model, and is not read.
func (r *reader) readActions() {
	if !hasAction(r.text) {
		return
	}
	for at := 0; at < len(r.text); {
		line, next := lineFrom(r.text, at)
		if code := strings.TrimLeft(line, " \t"); strings.HasPrefix(code, fence) || strings.HasPrefix(code, "~~~") {
			at = max(next, afterCode(r.text, at+len(line)-len(code)))
			continue
		}
		if _, ok := labelled(line, "Observation"); ok && r.done() {
			return
		}
		val, ok := labelled(line, actionLabel)
		if !ok {
			at = next
			continue
		}
		at = r.action(val, next)
	}
}

// action reads what follows the label of an action; rest is the byte after its line.
func (r *reader) action(val string, rest int) (next int) {
	val = strings.Trim(val, " \t\r*")
	if val == "" || strings.HasPrefix(val, "{") || strings.HasPrefix(val, "[") || strings.HasPrefix(val, fence) {
		blob, end := r.input(rest)
		r.blob(val + "\n" + blob)
		return end
	}
	val = strings.Trim(val, "`*")
	end := nameEnd(val, 0)
	name, after := val[:end], strings.TrimSpace(val[end:])
	tool := r.tools.Find(r.name(name))
	switch {
	case tool != nil && strings.HasPrefix(after, "("):
		r.Unreadable = !r.readPython(val) && strings.HasSuffix(after, ")") || r.Unreadable
	case !r.known && name != "" && (enclosed(after, "(", ")") || enclosed(after, "[", "]")):
		r.Unknown = r.Unknown || r.isReAct(rest)
	case tool != nil && enclosed(after, "[", "]"):
		r.given(tool, after[1:len(after)-1])
	case name != "" && after == "":
		return r.actionInput(name, tool, rest)
	}
	return rest
}

func enclosed(s, open, end string) bool {
	return strings.HasPrefix(s, open) && strings.HasSuffix(s, end)
}

// isReAct reports whether the text is nothing but a step of ReAct: it begins with a label, and
// nothing but an observation is after its action. rest is the byte after the action.
func (r *reader) isReAct(rest int) bool {
	first, _ := lineFrom(strings.TrimSpace(r.text), 0)
	_, thought := labelled(first, "Thought")
	_, action := labelled(first, actionLabel)
	after, _ := lineFrom(strings.TrimSpace(r.text[rest:]), 0)
	_, observed := labelled(after, "Observation")
	return (thought || action) && (observed || after == "" || after == "PAUSE")
}

// actionInput reads the input of an action that is the name of a tool, nil where it is not
// offered.
func (r *reader) actionInput(name string, tool *callvet.Tool, rest int) (next int) {
	at := skip(r.text, rest, " \t\r\n")
	line, body := lineFrom(r.text, at)
	first, labelled := labelled(line, "Action Input")
	switch {
	case tool == nil:
		s := shape{name: name}
		s.args, _ = value.Parse([]byte("{}"))
		r.Unknown = r.Unknown || !r.known && (labelled || r.isReAct(rest)) && s.couldCall()
		return rest
	case !labelled:
		switch cut := strings.TrimLeft(r.text[at:], "*_"); {
		case cut == "" && !needs(tool):
			r.call(tool.Name, json.RawMessage("{}"), "", InText)
		case beginsFold("Action Input", strings.TrimSpace(cut)): // cut off
			r.Unreadable = true
		}
		return rest
	}
	more, end := r.input(body)
	text := strings.TrimSpace(first + "\n" + more)
	if inside, ok := unfenced(text); ok {
		text = inside
	}
	r.given(tool, strings.TrimSpace(strings.Trim(text, "`")))
	return end
}

// blob reads the object or the list that an action is.
func (r *reader) blob(text string) {
	text = strings.TrimSpace(text)
	if inside, ok := unfenced(text); ok {
		text = inside
	}
	if text == "" || text[0] != '{' && text[0] != '[' {
		return
	}
	in := reader{tools: r.tools, known: r.known, prose: r.known, budget: r.budget}
	in.readWhole(text)
	r.budget = in.budget
	if !r.known {
		r.Unknown = r.Unknown || in.done()
		return
	}
	r.Calls, r.Unreadable = append(r.Calls, in.Calls...), r.Unreadable || in.Unreadable
}

// given adds the call of a tool with an input that is an object, or one value.
func (r *reader) given(tool *callvet.Tool, input string) {
	if strings.HasPrefix(input, "{") || input == "" {
		args, more := RepairArgs(input)
		if args == nil || input == "" && needs(tool) {
			r.Unreadable = true
			return
		}
		r.call(tool.Name, args, "", append([]string{InText}, more...)...)
		return
	}
	if v, err := value.Parse([]byte(input)); err == nil && v.Kind() == value.String {
		if args, more := RepairArgs(input); len(more) > 0 && args != nil {
			r.call(tool.Name, args, input, append([]string{InText}, more...)...)
			return
		}
		input = v.Str()
	}
	f := r.fieldsOf(tool.Name)
	args := json.RawMessage(f.typed("", input))
	if key := only(tool); key != "" {
		f.add(key, input)
		args = f.args()
	}
	r.call(tool.Name, args, "", InText)
}

// input is the text up to the next label of ReAct.
func (r *reader) input(at int) (text string, next int) {
	for next = at; next < len(r.text); {
		line, after := lineFrom(r.text, next)
		for _, label := range [...]string{"Observation", "Thought", actionLabel, "Action Input", "Final Answer"} {
			if _, ok := labelled(line, label); ok {
				return r.text[at:next], next
			}
		}
		next = after
	}
	return r.text[at:], next
}

// labelled reads "LABEL: value", also in bold.
func labelled(line, label string) (val string, ok bool) {
	rest := strings.TrimLeft(line, " \t*_#>")
	if !beginsFold(rest, label) {
		return "", false
	}
	rest = rest[len(label):]
	val, ok = strings.CutPrefix(strings.TrimLeft(strings.TrimLeft(rest, " 0123456789"), "*_ "), ":")
	return strings.TrimLeft(val, "*_ \t"), ok
}

// beginsFold reports whether a text begins with another one, ignoring letter case.
func beginsFold(s, with string) bool {
	return len(with) <= len(s) && strings.EqualFold(s[:len(with)], with)
}

// lineFrom is the line that begins at a byte, and the byte after it.
func lineFrom(s string, at int) (line string, next int) {
	i := strings.IndexByte(s[at:], '\n')
	if i < 0 {
		return s[at:], len(s)
	}
	return s[at : at+i], at + i + 1
}

// readTags reads <NAME><KEY>value</KEY></NAME>, the form of Cline and similar agents.
func (r *reader) readTags() {
	for at := 0; at < len(r.text) && r.budget > 0; {
		i := strings.IndexAny(r.text[at:], "<`")
		if i < 0 {
			return
		}
		if at += i; r.text[at] == '`' {
			at = afterCode(r.text, at)
			continue
		}
		e, ok := elementAt(r.text, at)
		if !ok || e.closing || e.called != "" {
			at++
			continue
		}
		at = e.end
		tool := r.tools.Find(e.raw)
		if tool == nil && (r.known || !strings.Contains(e.raw, "_")) {
			continue
		}
		at = r.toolTag(e, tool)
	}
}

// toolTag reads the element of a tool; tool is nil where the offered ones are not known.
func (r *reader) toolTag(e tag, tool *callvet.Tool) (next int) {
	word := !strings.Contains(e.raw, "_") // it may be an element of another language
	end := e.end
	var content string
	if !e.closed {
		stop := r.next("</"+e.raw+">", e.end)
		if stop < 0 {
			r.Unreadable = r.Unreadable || tool != nil && !word && r.beginsCall(e)
			return e.end
		}
		content, end = r.text[e.end:stop], stop+len("</"+e.raw+">")
	}
	r.budget -= len(content)
	if tool == nil {
		r.Unknown = r.Unknown || r.likeTool(e, content, end)
		return end
	}
	f := r.fieldsOf(tool.Name)
	var expected func(string) bool
	if props := properties(tool); word && props.Len() > 0 {
		expected = func(name string) bool { _, ok := props.Get(name); return ok }
	}
	n, text := f.children(content, expected), strings.TrimSpace(content)
	switch starts := lineStart(r.text, e.at); {
	case n > 0 || n == 0 && starts:
		args := f.args()
		if r.Unreadable = r.Unreadable || args == nil; args != nil {
			r.call(tool.Name, args, "", InText)
		}
	case strings.HasPrefix(text, "{"):
		r.given(tool, text)
	default:
		r.Unreadable = r.Unreadable || starts && !word
		return e.end
	}
	return end
}

// beginsCall reports whether an element that is not closed begins a line, with another one in it.
func (r *reader) beginsCall(e tag) bool {
	t, ok := r.tag(skip(r.text, e.end, " \t\r\n"))
	return ok && !t.closing && lineStart(r.text, e.at)
}

// likeTool reports whether an element looks like the call of a tool, where the offered tools are
// not known: it is all of the text, or one of Cline's.
func (r *reader) likeTool(e tag, content string, end int) bool {
	f := &fields{out: []byte{'{'}, seen: map[string]bool{}}
	alone := strings.TrimSpace(r.text[:e.at]) == "" && strings.TrimSpace(r.text[end:]) == ""
	json := strings.TrimSpace(content)
	return lineStart(r.text, e.at) && (isCline(e.raw) || alone) &&
		(strings.HasPrefix(json, "{") && value.Valid([]byte(json)) || f.children(content, nil) > 0)
}

// isCline reports whether a name is the name of a tool of Cline or Roo Code.
func isCline(name string) bool {
	return slices.Contains([]string{
		"execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "search_files", "list_files",
		"list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question",
		"attempt_completion", "new_task", "plan_mode_respond", "switch_mode", "insert_content", "search_and_replace",
		"fetch_instructions", "update_todo_list", "codebase_search", "web_fetch", "web_search",
		"load_mcp_documentation",
	}, name)
}

// readFences reads the code fences of a text, each that is nothing but calls. The label of a
// fence may be the mark of a call.
func (r *reader) readFences() {
	whole := r.prose
	defer func() { r.prose = whole }()
	_, only := unfenced(r.text)
	for _, b := range blocks(r.text) {
		if r.budget <= 0 {
			return
		}
		r.prose = !only
		switch b.label {
		case "tool_code":
			r.readCode(b.inside)
		case "tool", "tool_call", "tool_calls", "function_call":
			r.prose = false
			r.readWhole(b.inside)
		case "", "json", "jsonc":
			if !only && r.known || PythonLike(b.inside) {
				r.readWhole(b.inside)
			}
		case "python", "py":
			if PythonLike(b.inside) && !only {
				r.readWhole(b.inside)
			}
		}
	}
}

// readAgentCode reads the code of a step of smolagents: a thought, and then a fence after the label
// Code, or the element <code>.
func (r *reader) readAgentCode() {
	first, _ := lineFrom(strings.TrimSpace(r.text), 0)
	if _, thought := labelled(first, "Thought"); !thought {
		return
	}
	for _, b := range blocks(r.text) {
		if strings.HasSuffix(strings.TrimSpace(r.text[:b.from]), "Code:") {
			r.readCode(b.inside)
		}
	}
	if _, code, ok := strings.Cut(r.text, "\n<code>\n"); ok {
		code, _, _ = strings.Cut(code, "</code>")
		r.readCode(code)
	}
}

// readCode reads a fence of tool_code, as Gemma writes it: a call on each line, printed or
// assigned. Other lines are code that is not read.
func (r *reader) readCode(code string) {
	if !r.known {
		r.Unknown = r.Unknown || !r.prose && strings.Contains(code, "(")
		return
	}
	for at := 0; at < len(code) && r.budget > 0; {
		line, next := lineFrom(code, at)
		text := strings.TrimSpace(line)
		from := at + strings.Index(line, text)
		if name, val, ok := strings.Cut(text, "="); ok &&
			nameEnd(strings.TrimSpace(name), 0) == len(strings.TrimSpace(name)) {
			from += len(text) - len(strings.TrimLeft(val, " "))
		}
		printed := strings.HasPrefix(code[from:], "print(")
		if printed {
			from += len("print(")
		}
		at = next
		p := python{src: code, at: from, tools: r.tools}
		name := p.name()
		if !r.offers(name) || p.peek() != '(' {
			continue
		}
		p.at, p.tools = from, r.meantBy(name)
		c, err := p.call()
		r.budget -= len(line)
		if err != nil || printed && !p.eat(')') {
			r.budget -= len(code) - from
			r.Unreadable = true
			continue
		}
		r.pythonCalls(c)
		at = max(at, p.at)
	}
}

// meantBy returns the tools for a call of this name. A tool with a longer name is renamed to it:
// its schema is needed for the names of positional arguments.
func (r *reader) meantBy(name string) *callvet.Toolset {
	t := r.tools.Find(r.name(name))
	if t == nil || t.Name == name {
		return r.tools
	}
	as := *t
	as.Name = name
	return &callvet.Toolset{Tools: []callvet.Tool{as}}
}

// ownFence is the label of a command of mini-swe-agent's.
const ownFence = "mswea_bash_command"

// readShell reads the command of mini-swe-agent: one fence of bash after a thought. The fence
// names the tool.
func (r *reader) readShell() {
	var found []block
	for _, b := range blocks(r.text) {
		if b.label == "bash" || b.label == "sh" || b.label == ownFence {
			found = append(found, b)
		}
	}
	if len(found) == 0 {
		return
	}
	b, own := found[0], found[0].label == ownFence
	_, whole := unfenced(r.text)
	thought := strings.Contains("\n"+r.text, "\nTHOUGHT")
	switch {
	case !own && (len(found) > 1 || !thought && !whole):
	case r.known:
		r.command(b, own, len(found))
	case thought || own || strings.Contains(b.inside, "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"):
		r.Unknown = true
	}
}

// command adds the call of a shell in one of n fences.
func (r *reader) command(b block, own bool, n int) {
	tool := r.tools.Find(strings.TrimSuffix(strings.TrimPrefix(b.label, "mswea_"), "_command"))
	if tool == nil || n > 1 || !b.closed {
		r.Unreadable = r.Unreadable || own || tool != nil
		return
	}
	f := r.fieldsOf(tool.Name)
	f.add(cmp.Or(only(tool), "command"), strings.TrimSpace(b.inside))
	r.call(tool.Name, f.args(), "", InText)
}

// readLines reads calls that are not quoted, JSON and Python, each on lines of its own. In the
// middle of a sentence they are only mentioned.
func (r *reader) readLines() {
	if !r.known {
		return
	}
	r.prose = true
	for at := 0; at < len(r.text) && r.budget > 0; {
		if lineStart(r.text, at) {
			if end := r.pythonLine(at); end > at {
				at = end
				continue
			}
		}
		i := strings.IndexAny(r.text[at:], "{[`~\n")
		if i < 0 {
			return
		}
		switch at += i; r.text[at] {
		case '`', '~':
			at = afterCode(r.text, at)
		case '\n':
			at++
		default:
			at = r.jsonInLine(at)
		}
	}
}

// pythonLine reads a line that is a call of an offered tool, or a list of them.
func (r *reader) pythonLine(at int) (end int) {
	p := python{src: r.text, at: at, tools: r.tools}
	p.at = skip(r.text, at, " \t[")
	name := p.name()
	if name == "" || p.peek() != '(' || !r.offers(name) {
		return at
	}
	p.at = skip(r.text, at, " \t")
	var calls []callvet.Call
	var err error
	if r.text[p.at] == '[' {
		calls, err = p.calls()
	} else {
		var c callvet.Call
		c, err = p.call()
		calls = append(calls, c)
	}
	r.budget -= max(p.at-at, 0)
	if err != nil {
		r.budget -= len(r.text) - at
		return at
	}
	other := slices.ContainsFunc(calls, func(c callvet.Call) bool { return !r.offers(c.Tool) })
	if other || !lineEnd(r.text, p.at) {
		return at
	}
	r.pythonCalls(calls...)
	return p.at
}

// jsonInLine reads JSON that has its lines alone, that ends a line after a whole sentence, or that
// begins the text.
func (r *reader) jsonInLine(at int) (next int) {
	if inside := skip(r.text, at, "[{ \t\r\n"); inside == len(r.text) || r.text[inside] != '"' &&
		r.text[inside] != '\'' {
		return at + 1
	}
	end, closed := r.balanced(at)
	alone := lineStart(r.text, at) && (!closed || lineEnd(r.text, end))
	switch {
	case closed && (alone || at == 0 || afterSentence(r.text, at) && lineEnd(r.text, end)) &&
		r.take(r.text[at:end], false, false):
		return end
	case alone && r.text[at] == '{' && r.meant(r.text[at:end], !closed):
		r.Unreadable = true
		return end
	case closed && value.Valid([]byte(r.text[at:end])):
		return end
	}
	return at + 1
}

// afterSentence reports whether what is before a byte ends a sentence. "The payload would be"
// does not: the text after it is part of the sentence.
func afterSentence(s string, at int) bool {
	before := strings.TrimRight(s[max(0, at-maxMargin):at], " \t\r\n")
	return before == "" || strings.IndexByte(".!?:", before[len(before)-1]) >= 0
}
