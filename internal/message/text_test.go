// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

// spelledCase are the tools of the spellings.
func spelledCase() *callvet.Toolset {
	return callvet.NewToolset([]callvet.Tool{
		{
			Name: "get_weather",
			Parameters: raw(
				`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`),
		},
		{Name: "get_time", Parameters: raw(`{"type":"object","properties":{}}`)},
		{
			Name:       "bash",
			Parameters: raw(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
		},
		{
			Name:       "search",
			Parameters: raw(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
		},
	})
}

const (
	paris = `{"city":"Paris"}`
	one   = `get_weather{"city":"Paris"}`
	days  = `get_weather{"city":"Paris","days":3}`
	two   = one + ` get_time{}`
	hj    = `{"name": "get_weather", "arguments": {"city":"Paris"}}`
	hp    = `{"name": "get_weather", "parameters": {"city":"Paris"}}`
	tj    = `{"name": "get_time", "arguments": {}}`
	ns    = "antml:"
)

type spelling struct{ name, text, want string }

// withMark are the spellings with a mark: read wherever they are, whatever was offered.
func withMark() []spelling {
	return []spelling{
		{"hermes", "<tool_call>\n" + hj + "\n</tool_call>", one},
		{"gorilla", "<<function>>get_weather(city=\"Paris\")", one},
		{"gorilla, no arguments", "<<function>>get_time()", "get_time{}"},
		{"hermes, two", "<tool_call>\n" + hj + "\n</tool_call>\n<tool_call>\n" + tj + "\n</tool_call>", two},
		{"hermes, two in one", "<tool_call>" + hj + "\n" + tj + "</tool_call>", two},
		{"hermes, a list", "<tool_call>[" + hj + ", " + tj + "]</tool_call>", two},
		{"hermes, not closed", "<tool_call>\n" + hj, one},
		{"hermes, in capitals", "<TOOL_CALL>" + hj + "</TOOL_CALL>", one},
		{"hermes, in a fence", "<tool_call>\n```json\n" + hj + "\n```\n</tool_call>", one},
		{"hermes, only closed", hj + "\n</tool_call>", one},
		{
			"qwen3 coder",
			"<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>", days,
		},
		{
			"qwen3 coder, no mark around",
			"<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>", one,
		},
		{
			"qwen3 coder, closed only around",
			"<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>", one,
		},
		{
			"qwen3 coder, half closed",
			"<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n<parameter=days>\n3\n</function>\n</tool_call>", days,
		},
		{"qwen3 coder, no arguments", "<tool_call>\n<function=get_time>\n</function>\n</tool_call>", "get_time{}"},
		{
			"seed",
			"<seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n</seed:tool_call>", one,
		},
		{"doubao", "<|FunctionCallBegin|>[" + hp + "]<|FunctionCallEnd|>", one},
		{
			"glm",
			"<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>", days,
		},
		{"glm, no lines", "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>", one},
		{"glm, no arguments", "<tool_call>get_time\n</tool_call>", "get_time{}"},
		{
			"glm, values not closed",
			"<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris\n<arg_key>days</arg_key>\n<arg_value>3\n</tool_call>", days,
		},
		{"kimi", "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>" +
			paris + "<|tool_call_end|><|tool_calls_section_end|>", one},
		{
			"kimi, two",
			"<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>" +
				paris +
				"<|tool_call_end|><|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", two,
		},
		{"deepseek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n" + paris +
			"\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", one},
		{"deepseek, two", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n" + paris +
			"\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", two},
		{
			"deepseek, bars of ASCII",
			"<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>get_weather\n```json\n" + paris +
				"\n```<|tool▁call▁end|><|tool▁calls▁end|>", one,
		},
		{"deepseek 3.1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>" + paris +
			"<｜tool▁call▁end｜><｜tool▁calls▁end｜>", one},
		{
			"deepseek 3.2",
			"<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>", days,
		},
		{
			"deepseek, tool_calls",
			"<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"get_weather\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Paris</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>", one,
		},
		{
			"step",
			"<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"get_weather\"><steptml:parameter name=\"city\">Paris</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>", one,
		},
		{
			"harmony", "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>" + paris + "<|call|>",
			one,
		},
		{"harmony, receiver first", "<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>" +
			paris + "<|call|>", one},
		{"harmony, not closed", "<|channel|>commentary to=functions.get_weather<|message|>" + paris, one},
		{"harmony, two", "<|channel|>commentary to=functions.get_weather<|message|>" + paris +
			"<|call|><|start|>assistant<|channel|>commentary to=functions.get_time<|message|>{}<|call|>", two},
		{"harmony, other tools", "<|channel|>commentary to=get_weather <|constrain|>json<|message|>" + paris +
			"<|call|>", one},
		{"harmony, without a message", "<|channel|>commentary to=functions.get_time<|call|>", "get_time{}"},
		{
			"harmony, on the channel of thoughts",
			"<|channel|>analysis to=functions.get_weather code<|message|>" + paris + "<|call|>", one,
		},
		{"receiver alone", "to=functions.get_weather " + paris, one},
		{"receiver and words", "commentary to=functions.get_weather json" + paris, one},
		{
			"several at once",
			`to=multi_tool_use.parallel {"tool_uses":[{"recipient_name":"functions.get_weather","parameters":{"city":"Paris"}},{"recipient_name":"functions.get_time","parameters":{}}]}`, two,
		},
		{
			"minimax",
			"<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n<parameter name=\"days\">3</parameter>\n</invoke>\n</minimax:tool_call>", days,
		},
		{"minimax m1", "<tool_calls>\n" + hj + "\n" + tj + "\n</tool_calls>", two},
		{"mistral, a list", "[TOOL_CALLS][" + hj + ", " + tj + "]", two},
		{"mistral, with a space", "[TOOL_CALLS] [" + hj + "]</s>", one},
		{"mistral, new", "[TOOL_CALLS]get_weather" + paris, one},
		{"mistral, arguments", "[TOOL_CALLS]get_weather[ARGS]" + paris + "[TOOL_CALLS]get_time[ARGS]{}", two},
		{"mistral, with an id", "[TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]" + paris, one},
		{"mistral, two after one mark", "[TOOL_CALLS]get_weather" + paris + "get_time{}", two},
		{"magistral", "[THINK]hm [TOOL_CALLS][/THINK][TOOL_CALLS]get_weather[ARGS]" + paris, one},
		{"llama 3", "<|python_tag|>" + hp, one},
		{"llama 3, two", "<|python_tag|>" + hp + "; " + tj + "<|eom_id|>", two},
		{"llama 3, a built-in tool", "<|python_tag|>get_weather.call(city=\"Paris\")<|eom_id|>", one},
		{"llama 3, a function tag", "<function=get_weather>" + paris + "</function>", one},
		{"llama 4", "<|python_start|>[get_weather(city=\"Paris\"), get_time()]<|python_end|>", two},
		{
			"cohere",
			"<|START_ACTION|>[\n{\"tool_call_id\": \"0\", \"tool_name\": \"get_weather\", \"parameters\": {\"city\":\"Paris\"}}\n]<|END_ACTION|>", one,
		},
		{
			"cohere, with a plan",
			"<|START_THINKING|>I will look.<|END_THINKING|><|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"get_weather\", \"parameters\": {\"city\":\"Paris\"}}]<|END_ACTION|>", one,
		},
		{"nemotron", "<TOOLCALL>[" + hj + "]</TOOLCALL>", one},
		{"lfm2", "<|tool_call_start|>[get_weather(city=\"Paris\")]<|tool_call_end|>", one},
		{"lfm2, without arguments", "<|tool_call_start|>[get_time()]<|tool_call_end|>Checking the time.", "get_time{}"},
		{
			"functiongemma", "<start_function_call>call:get_weather{city:<escape>Paris<escape>,days:3}<end_function_call>",
			days,
		},
		{
			"functiongemma, nested",
			"<start_function_call>call:f{a:{b:[<escape>x<escape>,true]},c:null}<end_function_call>",
			`f{"a":{"b":["x",true]},"c":null}`,
		},
		{"gemma 4", "<|tool_call>call:get_weather{city:<|\"|>Paris<|\"|>}<tool_call|>", one},
		{"phi 4", "functools[" + hj + ", " + tj + "]", two},
		{"phi 4 mini", "<|tool_call|>[" + hj + "]<|/tool_call|>", one},
		{"granite", "<|tool_call|>[" + hj + "]", one},
		{"granite, a function call", "<function_call> " + hj, one},
		{"granite, two function calls", "<function_call> " + hj + " <function_call> " + tj, two},
		{"internlm", "<|action_start|><|plugin|>\n" + hp + "<|action_end|>", one},
		{"longcat, JSON", "<longcat_tool_call>" + hj + "</longcat_tool_call>", one},
		{
			"longcat",
			"<longcat_tool_call>get_weather\n<longcat_arg_key>city</longcat_arg_key>\n<longcat_arg_value>Paris</longcat_arg_value>\n</longcat_tool_call>", one,
		},
		{"olmo", "<function_calls>\nget_weather(city=\"Paris\")\nget_time()\n</function_calls>", two},
		{
			"anthropic",
			"<function_calls>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</invoke>\n<invoke name=\"get_time\">\n</invoke>\n</function_calls>", two,
		},
		{
			"anthropic, with a prefix",
			"<" + ns + "function_calls>\n<" + ns + "invoke name=\"get_weather\">\n<" + ns +
				"parameter name=\"city\">Paris</" + ns + "parameter>\n</" + ns + "invoke>\n</" + ns + "function_calls>",
			one,
		},
		{
			"anthropic, no mark around",
			"<invoke name='get_weather'>\n<parameter name='city'>Paris</parameter>\n</invoke>", one,
		},
		{
			"anthropic, older",
			"<function_calls>\n<invoke>\n<tool_name>get_weather</tool_name>\n<parameters>\n<city>Paris</city>\n</parameters>\n</invoke>\n</function_calls>", one,
		},
		{
			"grok",
			"<xai:function_call name=\"get_weather\">\n<parameter name=\"city\">Paris</parameter>\n</xai:function_call>", one,
		},
		{
			"an element tool_use", "<tool_use><name>get_weather</name><arguments>" + paris + "</arguments></tool_use>",
			one,
		},
		{"functools with a space", `functools [{"name": "get_weather", "arguments": ` + paris + "}]", one},
		{
			"elements for all", "<tool_call><name>get_weather</name><arguments>" + paris + "</arguments></tool_call>",
			one,
		},
		{"jamba", "<tool_calls>[" + hj + "]</tool_calls>", one},
		{"hunyuan", "<tool_calls><tool_call>get_weather\n```json\n" + paris + "\n```</tool_call></tool_calls>", one},
		{
			"hunyuan, pairs",
			"<tool_calls>\n<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>\n</tool_calls>", one,
		},
		{
			"apertus", "<|tools_prefix|>[{\"get_weather\": {\"city\":\"Paris\"}}, {\"get_time\": {}}]<|tools_suffix|>",
			two,
		},
		{"qwen agent", "✿FUNCTION✿: get_weather\n✿ARGS✿: " + paris, one},
		{"anthropic, an empty element", "<function_calls><invoke name=\"get_time\"/></function_calls>", "get_time{}"},
		{
			"anthropic, no quotes",
			"<function_calls><invoke name=get_weather><parameter name=city >Paris</parameter></invoke></function_calls>", one,
		},
		{
			"anthropic, an empty argument",
			"<function_calls><invoke><tool_name>f</tool_name><parameters><a/><b>1</b></parameters></invoke></function_calls>", `f{"a":"","b":1}`,
		},
		{
			"hunyuan, a fence without a label",
			"<tool_calls><tool_call>get_weather\n```\n" + paris + "\n```</tool_call></tool_calls>", one,
		},
		{
			"harmony, the receiver right after the channel",
			"<|channel|>to=get_weather<|message|>" + paris + "<|call|>", one,
		},
		{"lm studio", "[TOOL_REQUEST]" + hj + "[END_TOOL_REQUEST]", one},
		{"the last letter and digit", "[TOOL_CALLS]getZone9{}", "getZone9{}"},
	}
}

// whole are the spellings that are calls where the text is nothing else, whatever was offered.
func whole() []spelling {
	return []spelling{
		{"the last token of llama", hp + "<|eom_id|>", one},
		{"a header of llama", "<|start_header_id|>assistant<|end_header_id|>\n\n" + hp + "<|eot_id|>", one},
		{"a byte order mark", "\ufeff" + hj, one},
		{"a full stop", hj + ".", one},
		{"xlam", "[" + hj + ", " + tj + "]", two},
		{"llama, bare", hp, one},
		{"llama, two", hp + "; " + tj, two},
		{"a string", `"{\"name\": \"get_weather\", \"arguments\": {\"city\":\"Paris\"}}"`, one},
		{"openai", `{"tool_calls": [{"function": {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}]}`, one},
		{"openai, an old one", `{"function_call": {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}`, one},
		{
			"several at once", `{"tool_uses":[{"recipient_name":"functions.get_weather","parameters":{"city":"Paris"}}]}`,
			one,
		},
		{"hermes in a fence", "```xml\n<tool_call>\n" + hj + "\n</tool_call>\n```", one},
		{"two fences", "```json\n" + hj + "\n```\n\n```json\n" + tj + "\n```", two},
	}
}

// named are the spellings that need the name of an offered tool.
func named() []spelling {
	return []spelling{
		{"python", `[get_weather(city="Paris")]`, one},
		{"python, no brackets", `get_weather(city="Paris")`, one},
		{"tool_code", "```tool_code\nget_weather(city=\"Paris\")\n```", one},
		{"tool_code, printed", "```tool_code\nprint(get_weather(city=\"Paris\"))\n```", one},
		{"tool_code, assigned", "```tool_code\nx = get_weather(city=\"Paris\")\nget_time()\n```", two},
		{"tool_code, an API", "```tool_code\nprint(default_api.get_weather(city=\"Paris\"))\n```", one},
		{"tool_code, by place", "```tool_code\nprint(default_api.get_weather(\"Paris\", days=3))\n```", days},
		{"react", "Thought: I look.\nAction: get_weather\nAction Input: " + paris, one},
		{"react, in small letters", "thought: I look.\naction: get_weather\naction input: " + paris, one},
		{"react, in bold", "**Thought:** I look.\n**Action:** `get_weather`\n**Action Input:** " + paris, one},
		{"react, a fence", "Action: get_weather\nAction Input:\n```json\n" + paris + "\n```", one},
		{"react, lines", "Thought: x\nAction: get_weather\nAction Input: {\n  \"city\": \"Paris\"\n}", `get_weather{
  "city": "Paris"
}`},
		{
			"react, then made up",
			"Action: search\nAction Input: weather in Paris\nObservation: 21 degrees\nThought: done\nAction: get_time\nAction Input: {}", `search{"query":"weather in Paris"}`,
		},
		{
			"react, a blob",
			"Thought: x\nAction:\n```json\n{\"action\": \"get_weather\", \"action_input\": {\"city\":\"Paris\"}}\n```",
			one,
		},
		{
			"cohere, an older one",
			"Action: ```json\n[\n{\"tool_name\": \"get_weather\", \"parameters\": {\"city\":\"Paris\"}}\n]\n```", one,
		},
		{"cline", "<get_weather>\n<city>Paris</city>\n<days>3</days>\n</get_weather>", days},
		{"mini-swe-agent", "THOUGHT: look\n\n```bash\nls -la\n```", `bash{"command":"ls -la"}`},
		{
			"mini-swe-agent, its own fence", "THOUGHT: look\n\n```mswea_bash_command\nls -la\n```",
			`bash{"command":"ls -la"}`,
		},
	}
}

// alone are the spellings that need the name of an offered tool, and no other text.
func alone() []spelling {
	return []spelling{
		{"glm 4", "get_weather\n" + paris, one},
		{"glm 4, two", "get_weather\n" + paris + "\nget_time\n{}", two},
		{"chatglm", "get_weather\n ```python\ntool_call(city='Paris')\n```", one},
		{"mistral, without its token", "get_weather[ARGS]" + paris, one},
		{"python, awaited", `await get_weather(city="Paris")`, one},
		{"python, assigned", `w = get_weather(city="Paris")`, one},
		{"python, printed", `print(get_weather(city="Paris"))`, one},
		{"python, by place", `get_weather("Paris")`, one},
		{"javascript", "get_weather(" + paris + ")", one},
		{"javascript, a namespace", "functions.get_weather(" + paris + ");", one},
		{"smolagents, a fence", "Thought: I look.\nCode:\n```py\nw = get_weather(city=\"Paris\")\n```<end_code>", one},
		{"smolagents, an element", "Thought: I look.\n<code>\nw = get_weather(city=\"Paris\")\n</code>", one},
		{"react, brackets", "Thought: x\nAction: search[Paris]", `search{"query":"Paris"}`},
		{"an element with JSON", "<get_weather>" + paris + "</get_weather>", one},
		{"a thought in the object", `{"thought":"x","tool":"get_weather","tool_input":{"city":"Paris"}}`, one},
	}
}

// offeredOnly are the spellings that need an offered tool and are no shape of their own.
func offeredOnly() []spelling {
	return []spelling{
		{"react, no input", "Thought: x\nAction: get_time", "get_time{}"},
		{"react, python", "Thought: x\nAction: get_weather(city=\"Paris\")", one},
		{"cline, empty", "<get_time>\n</get_time>", "get_time{}"},
		{"cline, JSON", "<get_weather>\n" + paris + "\n</get_weather>", one},
		{"JSON on a line", "I look.\n" + hj + "\nOne moment.", one},
		{"JSON after a sentence", "I look: " + hj, one},
		{"python on a line", "I look.\nget_weather(city=\"Paris\")\nget_time()\nOne moment.", two},
		{"a fence of JSON in prose", "Here:\n```json\n" + hj + "\n```\nOne moment.", one},
		{"llama 4, then prose", "[get_weather(city=\"Paris\")]\n\nOne moment.", one},
		{"JSON after a full stop", "I look it up. " + hj, one},
		{"JSON after a long line", strings.Repeat("I look it up. ", 9) + "\n" + hj + "\nOne moment.", one},
		{"a fence after words", "Here it is: ```json\n" + hj + "\n```", one},
		{"react, a string", "Action: search\nAction Input: \"Paris\"", `search{"query":"Paris"}`},
		{"react, an object in a string", "Action: get_weather\nAction Input: \"{\\\"city\\\":\\\"Paris\\\"}\"", one},
		{"tool_code, indented", "```tool_code\n  get_weather(city=\"Paris\")\n```", one},
	}
}

func check(t *testing.T, text, want string, tools *callvet.Toolset) {
	t.Helper()
	got := CallsFromText(text, tools)
	if d := cmp.Diff(want, callsText(got.Calls)); d != "" || got.Unreadable || got.Unknown {
		t.Errorf("%q: unreadable %v, unknown %v, calls (-want +got):\n%s", text, got.Unreadable, got.Unknown, d)
	}
}

const before, after = "I will look it up.\n\n", "\n\nOne moment, please."

// TestSpellings reads each spelling alone, with prose before and after it, and after a thought.
func TestSpellings(t *testing.T) {
	t.Parallel()
	tools := spelledCase()
	for _, s := range append(withMark(), append(whole(), append(named(), offeredOnly()...)...)...) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			check(t, s.text, s.want, tools)
			check(t, " \n"+s.text+"\n ", s.want, tools)
			check(t, "<think>\nI could <tool_call> `it`.\n</think>\n\n"+s.text, s.want, tools)
			check(t, "so I call {it}.\n</think>\n"+s.text, s.want, tools)
		})
	}
	for _, s := range append(withMark(), append(named(), offeredOnly()...)...) {
		t.Run(s.name+" in prose", func(t *testing.T) {
			t.Parallel()
			check(t, before+s.text, s.want, tools)
			if !strings.HasPrefix(s.name, "react") && !strings.HasPrefix(s.name, "mini-swe") &&
				s.name != "hermes, only closed" {
				check(t, s.text+after, s.want, tools)
				check(t, before+s.text+after, s.want, tools)
			}
		})
	}
}

// TestSpellingsOfUnknownTools reads each spelling where the offered tools are not known.
func TestSpellingsOfUnknownTools(t *testing.T) {
	t.Parallel()
	for _, s := range append(withMark(), whole()...) {
		check(t, s.text, s.want, nil)
		check(t, s.text, s.want, callvet.NewToolset(nil))
	}
	for _, s := range withMark() {
		if s.name != "hermes, only closed" {
			check(t, before+s.text, s.want, nil)
		}
	}
	for _, s := range named() {
		if got := CallsFromText(s.text, nil); !got.Unknown || got.Unreadable || got.Calls != nil {
			t.Errorf("%s: %+v, want unknown", s.name, got)
		}
	}
	for _, s := range alone() {
		check(t, s.text, s.want, spelledCase())
		if got := CallsFromText(s.text, nil); !got.Unknown || got.Unreadable || got.Calls != nil {
			t.Errorf("%s: %+v, want unknown", s.name, got)
		}
	}
	for _, s := range offeredOnly() {
		if got := CallsFromText(s.text, nil); got.Unreadable || got.Calls != nil {
			t.Errorf("%s: %+v, want neither calls nor unreadable", s.name, got)
		}
	}
	for _, text := range []string{
		"I will look.\n\n<list_files>\n<path>.</path>\n</list_files>", // a tool of Cline's
		`{"action": "get_weather", "action_input": {"city":"Paris"}}`,
		`{"tool": "get_weather", "args": {}, "id": 1}`,
	} {
		if got := CallsFromText(text, nil); !got.Unknown && got.Calls == nil {
			t.Errorf("%q: %+v, want unknown", text, got)
		}
	}
}

// TestAround reads a call next to thoughts, code and words that could hide it.
func TestAround(t *testing.T) {
	t.Parallel()
	tools := spelledCase()
	const call = "<tool_call>" + hj + "</tool_call>"
	for _, text := range []string{
		"```\nx = 1\n```\n" + call,
		"```x = 1```\n" + call,
		"Write ``a ```` b`` first.\n" + call,
		"~~~\nx = 1\n~~~\n" + call,
		hj + " One moment.",
		hj + "\nA thought ends with `</think>`.",
		hj + "\n<think>done</think>\nOne moment.",
		"so I write <tool_call>.</think>\n" + hj + "\n<think>done</think>",
		"[TOOL_CALLS][" + hj + "]\n\n{x | x > 0} is a set.",
	} {
		check(t, text, one, tools)
	}
}

// TestUnknownTools decides whether a text may be a call where the offered tools are not known.
func TestUnknownTools(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"run(x=1)":                            true,
		"run_it()":                            true,
		"run()":                               false,
		"[run()]":                             true,
		"<list_files>\n</list_files>":         false,
		"<list_files>\n<a>1</a></list_files>": true,
	} {
		if got := CallsFromText(text, nil); got.Unknown != want || got.Unreadable || got.Calls != nil {
			t.Errorf("%q: %+v, want unknown %t", text, got, want)
		}
	}
}

// TestWordTool reads the element of a tool with a name that is a word: without a schema, any
// arguments are its own.
func TestWordTool(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset([]callvet.Tool{{Name: "list"}})
	check(t, "<list>\n<path>x</path>\n</list>", `list{"path":"x"}`, tools)
	check(t, "<list></list>", "list{}", tools)
}

// TestSpellingsCut cuts each spelling after each of its bytes: a mark that is there is never
// an abstention, and no call is made up.
func TestSpellingsCut(t *testing.T) {
	t.Parallel()
	tools := spelledCase()
	for _, s := range append(withMark(), append(named(), whole()...)...) {
		if s.name == "react, then made up" {
			continue // a text may end anywhere
		}
		marked := s.name == "hermes, only closed"
		for n := 1; n < len(s.text); n++ {
			got := CallsFromText(s.text[:n], tools)
			if calls := callsText(got.Calls); !strings.HasPrefix(s.want, calls) {
				t.Errorf("%s, cut after %q: calls %s", s.name, s.text[:n], calls)
			}
			if marked && !got.done() && s.name != "hermes, only closed" {
				t.Errorf("%s, cut after %q: an abstention", s.name, s.text[:n])
			}
			marked = marked || got.Unreadable
		}
		if !marked {
			t.Errorf("%s: no cut is unreadable", s.name)
		}
	}
}

// TestBroken reads what is meant for a call and cannot be read strictly.
func TestBroken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris'}}</tool_call>`,
		`<tool_call>{"name": "get_weather", "arguments": {"city": "Paris",}}</tool_call>`,
		`<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}}</tool_call>`,
		`<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}} and so on</tool_call>`,
		`<tool_call>{"city": "Paris"}</tool_call>`,
		`<tool_call>get_weather Paris</tool_call>`,
		`<tool_call>nothing</tool_call>`,
		`<tool_call></tool_call>`,
		`<tool_call>`,
		`</tool_call>`,
		`I call it.</tool_call>`,
		`<tool_call><function=get_weather><parameter=city>Paris</parameter>`,
		`<tool_call><function=get_weather><parameter=city>Paris</parameter><parameter=city>Rome</parameter></function></tool_call>`,
		`<tool_call><function=get_weather>Paris</function></tool_call>`,
		`<invoke name="get_weather"><city>Paris</city></invoke>`,
		"<tool_call>get_weather\n<arg_key>city</arg_key>\n</tool_call>",
		`<|channel|>commentary to=functions.get_weather<|message|>city: Paris<|call|>`,
		`<|channel|>commentary<|message|>I call.<|call|>`,
		`to=functions.get_weather {"city": "Paris"`,
		`[TOOL_CALLS]get_weather{"city": Paris}`,
		`[TOOL_CALLS] I call it.`,
		`functools[{"name": "get_weather"`,
		"<start_function_call>call:get_weather{city:<escape>Paris}<end_function_call>",
		"<start_function_call>call:get_weather{city:<escape>Paris<escape>,city:<escape>Rome<escape>}<end_function_call>",
		"<|python_tag|>import math\nprint(math.sqrt(2))",
		"Thought: x\nAction: get_weather\nAction Input: {\"city\": \"Par",
		"Thought: x\nAction: get_weather",
		"I look.\n" + `{"name": "get_weather", "arguments": {"city": "Par`,
		"<get_weather>\n<city>Paris</city>\n",
		"<get_weather>Paris</get_weather>",
		"```tool_code\nprint(get_weather(city=\"Par\n```",
		"```mswea_bash_command\nls\n```\n```mswea_bash_command\npwd\n```",
		"<function_calls>\n<invoke>\n<tool_name>get_weather</tool_name>\n<parameters>\n<city>Paris\n</parameters>\n</invoke>\n</function_calls>",
		"<start_function_call>call:f{a:" + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}<end_function_call>",
		"<start_function_call>call:f" + strings.Repeat("{a:", 200) + "1" + strings.Repeat("}", 200) +
			"<end_function_call>",
		"I look.\n{'name': 'get_weather', 'arguments': {'city': 'Paris'}}",
		hj + "\n" + `{"note": "hi"}`,
		hj + "}",
		"<tool_call",
		"I look.\n<tool_ca",
		"I look.\n<function=get_wea",
		"I look.\n<invoke name=\"get_wea",
		"I look. [TOOL_CAL",
		"<｜tool▁calls▁beg",
	} {
		if got := CallsFromText(text, spelledCase()); !got.Unreadable {
			t.Errorf("%q: %+v, want unreadable", text, got)
		}
	}
}

// TestAnswers holds that an answer in words stays one.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"It is sunny in Paris.",
		"A call begins with `<tool_call>` and ends with `</tool_call>`.",
		"Mistral writes ``[TOOL_CALLS]``, harmony `<|channel|>commentary to=functions.x`.",
		"Hermes writes\n\n```xml\n<tool_call>\n" + hj + "\n</tool_call>\n```\n\nin its answers.",
		"Hermes writes\n\n~~~\n<tool_call>\n" + hj + "\n</tool_call>\n~~~\n\nin its answers.",
		"ReAct goes:\n\n```\nThought: …\nAction: get_weather\nAction Input: " + paris + "\n```\n\nThen the tool runs.",
		"Cline writes `<get_weather><city>Paris</city></get_weather>` for that.",
		"The payload would be " + hj,
		"You could call " + hj + ", but you need not.",
		"Use `get_weather(city=\"Paris\")` for that.",
		"To use it: get_weather(city=\"Paris\"), then wait.",
		"```python\nprint(get_weather(city=\"Paris\"))\n```\nis how to call it.",
		"```js\nconst x = {name: 'get_weather', arguments: {}};\n```",
		"Run this:\n\n```bash\nls -la\n```",
		"f(x) = x^2, so f(3) = 9 and [f(1), f(2)] = [1, 4].",
		"<!DOCTYPE html>\n<html><body><p class=\"a\">Paris</p></body></html>",
		"<note>\n<to>Ada</to>\n<from>Bob</from>\n</note>",
		"<function><name>f</name></function>",
		"<search>\n<result>Paris</result>\n</search>",
		`{"name": "Ada", "age": 36}`,
		`{"city": "Paris", "temperature": 21}`,
		"Config:\n```json\n{\"name\": \"app\", \"arguments\": {\"a\": 1}}\n```\nthat is all.",
		"Action: wait until Monday.\nThought: it may rain.",
		"Action: Final Answer\nAction Input: It is sunny.",
		`{"action": "Final Answer", "action_input": "It is sunny."}`,
		"It went to=functions of time, and functools[0] is no list.",
		"See [tool_calls](https://example.org) and <https://example.org>.",
		"a < b and c > d, {x | x > 0}, [0, 1)",
		"<|channel|>final<|message|>It is sunny.<|return|>",
		"<|channel|>analysis<|message|>I could use to=functions.get_weather {}<|end|><|start|>assistant<|channel|>final<|message|>Sunny.",
		"<thinking>" + hj + "</thinking>\nSunny.",
		"[THINK]<tool_call>[/THINK]Sunny.",
		"<think>I call <tool_call>" + hj,
		"SELECT * FROM t WHERE a = 'x'; -- `",
		"The empty <get_time></get_time> stands for it.",
		"<|channel|><|message|>Write to=get_time {} for it.",
		"to=functions.get_weather is how it begins.",
		"Write ``a ```` <tool_call> b`` for it.",
		`[{"note": "hi"}]`,
		"A call begins with `<tool_call",
		"See <https",
		"search {term} finds it",
		"<s>It is sunny.</s>",
		`print("hello")`,
		`x = 5`,
	} {
		if got := CallsFromText(text, spelledCase()); got.done() {
			t.Errorf("%q: %+v, want an answer", text, got)
		}
		if got := CallsFromText(text, nil); got.done() && text[0] != '{' {
			t.Errorf("%q, of unknown tools: %+v, want an answer", text, got)
		}
	}
}

// TestTypes reads values that are written as text.
func TestTypes(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset([]callvet.Tool{{Name: "f", Parameters: raw(`{"properties":{
		"s":{"type":"string"},"i":{"type":"integer"},"b":{"type":"boolean"},"o":{"type":"object"},
		"n":{"type":["integer","null"]},"sn":{"anyOf":[{"type":"string"},{"type":"null"}]},"x":{}}}`)}})
	for _, c := range []struct{ key, text, want string }{
		{"s", "5", `"5"`},
		{"s", "true", `"true"`},
		{"s", "a\nb", `"a\nb"`},
		{"s", " x ", `" x "`},
		{"s", "\nx\n", `"x"`},
		{"s", `{"a":1}`, `"{\"a\":1}"`},
		{"i", "5", `5`},
		{"i", " 5\n", `5`},
		{"i", "five", `"five"`},
		{"i", "12345678901234567890", `12345678901234567890`},
		{"i", `"5"`, `"\"5\""`},
		{"b", "true", `true`},
		{"b", "False", `false`},
		{"b", "yes", `"yes"`},
		{"o", `{"a": [1]}`, `{"a": [1]}`},
		{"o", `{"a": `, `"{\"a\": "`},
		{"n", "null", `null`},
		{"n", "None", `null`},
		{"n", "3", `3`},
		{"sn", "null", `null`},
		{"sn", "3", `"3"`},
		{"x", "5", `5`},
		{"x", "true", `true`},
		{"x", "[1,2]", `[1,2]`},
		{"x", "null", `"null"`},
		{"x", "Paris", `"Paris"`},
		{"x", "", `""`},
		{"other", "5", `5`},
	} {
		text := "<function=f><parameter=" + c.key + ">" + c.text + "</parameter></function>"
		check(t, text, `f{"`+c.key+`":`+c.want+`}`, tools)
	}
}

// TestLinear keeps hostile texts from costing more than linear time.
func TestLinear(t *testing.T) {
	t.Parallel()
	size := 1 << 17
	if testing.Short() {
		size = 1 << 14
	}
	for _, unit := range []string{
		"<tool_call>", "<tool_call>{", "</tool_call>", "<tool_call>f(x", "<tool_call>[f(a=",
		"<function=a><parameter=b>", "<tool_call>f<arg_key>a</arg_key><arg_value>",
		"<|channel|>commentary to=functions.f<|message|>", "<|channel|>analysis<|message|>x<|end|>", "to=functions.f {",
		"functools[{", "[TOOL_CALLS]f{", "<think>", "</think>",
		"<think></think>", "`", "``` ", "\n```json\n{", "`` ` ", "Action: get_weather\n", "Action:\n",
		"Action: get_weather\nAction Input: {\n", "<get_weather>", "<get_weather><city>", "{\"name\":\"get_weather\",",
		"\n{\"name\": ",
		"get_weather(\n", "\n[get_weather(", "<｜tool▁calls▁begin｜>", "<start_function_call>call:f{a:[",
		"call:f{a:<escape>", "~~~\n", "\n~~~", "✿FUNCTION✿: f\n", "<invoke>", "<tool_call><name>",
		"```tool_code\nget_weather(\n", "```bash\n", "\"\\",
	} {
		start := time.Now()
		CallsFromText(strings.Repeat(unit, size/len(unit)), spelledCase())
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%q repeated to %d bytes takes %v", unit, size, took)
		}
	}
}
