// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ReadText reads an answer that is one JSON object with a text, in the same way as verdicts:
// thoughts, a fence, text around the object, other quotes and commas are accepted. It returns the
// member with one of the names. wrong is why the answer cannot be used: it is empty or too long,
// it is a refusal, it has no such object, the text was cut off, or two objects have different
// texts. mended reports that the answer was not the requested JSON.
func ReadText(answer string, names ...string) (text string, mended bool, wrong string) {
	if len(answer) > maxAnswer {
		return "", false, fmt.Sprintf("the answer is longer than %d bytes", maxAnswer)
	}
	answer = strings.TrimSpace(strings.TrimPrefix(unthought(answer), "\ufeff"))
	if answer == "" {
		return "", false, whyEmpty
	}
	all := objects(answer)
	mended = !json.Valid([]byte(answer))
	found := false
	for i := range all {
		s, ok, err := memberText(&all[i], names)
		switch {
		case err != nil:
			return "", mended, err.Error()
		case ok && found && s != text:
			return "", mended, fmt.Sprintf("the answer gives two different texts as %s", names[0])
		case ok:
			text, found = s, true
		}
	}
	switch {
	case found:
		return text, mended, ""
	case refusal.MatchString(answer) && len(all) == 0:
		return "", mended, "the model refused to answer"
	}
	return "", mended, fmt.Sprintf("the answer is no JSON object with the text %s", names[0])
}

// memberText is the text of an object or, where it has none, of an object in it.
func memberText(o *node, names []string) (string, bool, error) {
	s, ok, err := field(o, func(n *node) (string, bool) { return n.text, n.kind == textNode }, names...)
	for i := range o.kids {
		if ok || err != nil {
			break
		}
		if o.kids[i].kind == objectNode {
			s, ok, err = memberText(&o.kids[i], names)
		}
	}
	if err == nil && !ok && o.cutText(names) {
		err = errors.New("the answer was cut off before its end")
	}
	return s, ok, err
}

// cutText reports whether the object has a member of one of the names that was cut off.
func (n *node) cutText(names []string) bool {
	for i := range n.keys {
		for _, name := range names {
			if folded(n.keys[i]) == folded(name) && n.kids[i].cut {
				return true
			}
		}
	}
	return false
}
