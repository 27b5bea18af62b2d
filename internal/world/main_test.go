// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain lets the test binary be the command of tools: LIVE_TOOL selects how it behaves.
func TestMain(m *testing.M) {
	if way := os.Getenv("LIVE_TOOL"); way != "" {
		command(way)
		return
	}
	os.Exit(m.Run())
}

// asked is a line that a command reads.
type asked struct {
	ID        int64           `json:"id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

func command(way string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	before := ""
	for in.Scan() {
		var q asked
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Println(err)
			return
		}
		if way == "honest" {
			result, failed, hangs := liveBackend(&before, q.Tool, q.Arguments)
			switch {
			case hangs:
				continue
			case failed:
				fmt.Printf("{\"id\":%d,\"error\":%s}\n", q.ID, result)
			default:
				fmt.Printf("{\"id\":%d,\"result\":%s,\"version\":\"1.5\"}\n", q.ID, result)
			}
			continue
		}
		if lie(way, &q) {
			return
		}
	}
}

// lie answers as no tool should; true: it ends.
func lie(way string, q *asked) bool {
	switch way {
	case "slow":
	case "late":
		if q.ID > 1 { // the answer to the first call comes with the second
			fmt.Printf("{\"id\":1,\"result\":\"late\"}\n{\"id\":%d,\"result\":\"in time\"}\n", q.ID)
		}
	case "endless":
		for {
			if _, err := fmt.Print(strings.Repeat("x", 1<<16)); err != nil {
				return true
			}
		}
	case "huge":
		fmt.Printf("{\"id\":%d,\"result\":\"%s\"}\n", q.ID, strings.Repeat("x", 100<<20))
	case "invalid":
		fmt.Println(`{"id":1,"result":}`)
	case "duplicate":
		fmt.Printf("{\"id\":%d,\"result\":1,\"result\":2}\n", q.ID)
	case "list":
		fmt.Println(`[1]`)
	case "no id":
		fmt.Println(`{"result":1}`)
	case "wrong id":
		fmt.Println(`{"id":77,"result":1}`)
	case "closes":
		fmt.Print(`{"id":1,"res`)
		return true
	case "dies":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "silent":
		os.Stdout.Close()
		select {}
	case "odd error":
		fmt.Printf("{\"id\":%d,\"error\":{\"code\":5}}\n", q.ID)
	case "blank":
		fmt.Printf("\n\n{\"id\":%d}\n", q.ID)
	}
	return false
}

// liveBackend is the tools of all honest worlds: what they answer does not depend on how they are
// called. before is what one conversation has left in them.
func liveBackend(before *string, tool string, args json.RawMessage) (result string, failed, hangs bool) {
	var a map[string]json.RawMessage
	_ = json.Unmarshal(args, &a)
	switch tool {
	case "remember":
		*before = string(a["text"])
		return `"kept"`, false, false
	case "recall":
		if *before == "" {
			return `"nothing"`, false, false
		}
		return *before, false, false
	case "fail":
		return `"it is down"`, true, false
	case "hang", "late":
		return "", false, true
	case "write":
		if log := os.Getenv("LIVE_LOG"); log != "" {
			_ = os.WriteFile(log, args, 0o600)
		}
		return `"written"`, false, false
	case "environment":
		return fmt.Sprintf("%q", strings.Join([]string{os.Getenv("OPENAI_API_KEY"), os.Getenv("LIVE_SEEN")}, ",")),
			false, false
	default: // echo
		return `{"got":` + string(args) + `}`, false, false
	}
}
