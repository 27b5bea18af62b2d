# Runs the Python of a scorer: a question is a line of JSON on standard input, an answer one on
# standard output. What the program prints goes to standard error.
import json
import math
import re
import sys

out = sys.stdout
sys.stdout = sys.stderr


def output_of(attempt):
    """The answer of the attempt: its text, or the calls of its last message."""
    said = [t for t in attempt["turns"] if t["role"] == "assistant"]
    if not said or not said[-1].get("calls"):
        return attempt["answer"]
    calls = [
        {
            "id": c.get("id", ""),
            "type": "function",
            "function": {"name": c["tool"], "arguments": c.get("args_raw", "") if c["args"] is None else json.dumps(c["args"])},
        }
        for c in said[-1]["calls"]
    ]
    if said[-1]["content"]:
        return {"role": "assistant", "content": said[-1]["content"], "tool_calls": calls}
    return calls


known = {}


def compiled(text):
    """A function of a program: of several lines it is a body, of one an expression."""
    if text in known:
        return known[text]
    if "\n" in text:
        first = re.search(r"^(?!\s*$)\s+", text, re.MULTILINE)
        indent = first.group(0) if first else "    "
        body = "\n".join(indent + line for line in text.split("\n"))
    else:
        body = "    return " + text
    scope = {"json": json}
    exec("def main(output, context):\n" + body + "\n", scope)
    if len(known) < 1000:
        known[text] = scope["main"]
    return scope["main"]


def scored(n, threshold):
    if not math.isfinite(n):
        raise ValueError("it returned %r, which is no finite number" % n)
    said = {"score": min(1, max(0, n)), "pass": n > 0 if threshold is None else n >= threshold}
    if said["score"] != n:
        said["reason"] = "it returned %r" % n
    return said


def opinion(result, threshold):
    """What the program returned."""
    if isinstance(result, str):
        if result.lower() in ("true", "false"):
            result = result.lower() == "true"
        elif result.startswith("{"):
            result = json.loads(result)
        else:
            result = float(result)
    if isinstance(result, bool):
        return {"pass": result}
    if isinstance(result, (int, float)):
        return scored(result, threshold)
    passed = result.get("pass", result.get("pass_")) if isinstance(result, dict) else None
    if not isinstance(passed, bool):
        raise ValueError("it returned %s, and neither True, False, a number nor {pass, score, reason}" % type(result).__name__)
    said = {"pass": passed}
    score = result.get("score")
    if isinstance(score, (int, float)) and not isinstance(score, bool):
        said["score"] = scored(score, threshold)["score"]
        if threshold is not None and score < threshold:
            said["pass"] = False
    if isinstance(result.get("reason"), str) and result["reason"]:
        said["reason"] = result["reason"]
    named = result.get("namedScores") or result.get("named_scores") or {}
    for name, v in named.items():
        number = isinstance(v, (int, float)) and not isinstance(v, bool)
        if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) and number and 0 <= v <= 1:
            said.setdefault("values", {})[name] = v
    return said


for line in sys.stdin:
    q = json.loads(line)
    case = q["attempt"]["case"]
    given = q.get("vars") or {}
    context = {"vars": given, "prompt": case["prompt"], "test": {"vars": given, "description": case["description"]}, "attempt": q["attempt"]}
    try:
        said = opinion(compiled(q["program"])(output_of(q["attempt"]), context), q.get("threshold"))
    except Exception as err:
        said = {"error": "the program failed: %s: %s" % (type(err).__name__, err)}
    said["id"] = q["id"]
    out.write(json.dumps(said) + "\n")
    out.flush()
