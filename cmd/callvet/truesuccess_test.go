// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// supportExample is the folder of the example of a judge that errs: made-up support tasks, in Brazilian
// Portuguese and Argentine Spanish, before and after a mend of the agent.
var supportExample = filepath.Join("..", "..", "examples", "true-success")

// TestTrueSuccessExample compares the files of the example with their generated texts: the traces,
// the labels, and the counts in its card. The labels are the truth of the tasks that callvet drew.
// With -update it writes traces and labels again.
func TestTrueSuccessExample(t *testing.T) {
	t.Parallel()
	truth, card := map[string]bool{}, example(t, "README.md")
	for _, r := range releases() {
		var lines bytes.Buffer
		passes := 0
		for i := range supportTasks {
			k, records := supportTask(r, i)
			if truth[supportID(r, i)] = k == right || k == nothing; truth[supportID(r, i)] {
				passes++
			}
			encode(t, &lines, records...)
		}
		heldFile(t, filepath.Join(supportExample, r.name+".jsonl"), lines.String())
		if stderr := fmt.Sprintf("%d of 400 (`%s.jsonl`)", passes, r.name); !strings.Contains(card, stderr) {
			t.Errorf("the card does not say %s", stderr)
		}
	}
	var labelled bytes.Buffer
	for _, l := range toLabel(t) {
		pass, known := truth[fmt.Sprint(l["task_id"])]
		if !known {
			t.Fatalf("there is no task %v", l["task_id"])
		}
		l["pass"], l["by"] = pass, "generator"
		encode(t, &labelled, l)
	}
	heldFile(t, filepath.Join(supportExample, "labelled.jsonl"), labelled.String())
}

// heldFile compares a file with its text.
func heldFile(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != text {
		t.Errorf("%s is not what makes it (%v); -update writes it", path, err)
	}
}

func example(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(supportExample, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func encode(t *testing.T, w io.Writer, records ...any) {
	t.Helper()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range records {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
}

// toLabel are the tasks that callvet draws, after its judge has looked at all of them.
func toLabel(t *testing.T) []map[string]any {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples", "true-success"), os.DirFS(supportExample)); err != nil {
		t.Fatal(err)
	}
	consoleBlock(t, dir, "examples/true-success",
		`$ callvet judge run examples/true-success/before.jsonl --judge task -m script:examples/true-success/judge.yaml -o labels.jsonl
$ callvet label next examples/true-success/before.jsonl --n 200 -o todo.jsonl
`)
	b, err := os.ReadFile(filepath.Join(dir, "todo.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for dec := json.NewDecoder(bytes.NewReader(b)); dec.More(); {
		var l map[string]any
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// supportTasks is how many a file has.
const supportTasks = 400

// ending is how a task ended.
type ending int

const (
	right    ending = iota // the answer repeats the result of the tool
	nothing                // there is nothing to find, and the answer is that: a true pass
	invented               // the answer has another number than the result of the tool: a true fail
	gaveUp                 // the answer is that nothing was found, but it was: a true fail
)

// releases are before and after the mend.
func releases() []release {
	return []release{{"before", [4]int{70, 1, 13, 16}}, {"after", [4]int{91, 2, 3, 4}}}
}

// release is a version of the agent: of 100 tasks, how many end how.
type release struct {
	name   string
	shares [4]int
}

func supportID(r release, i int) string { return fmt.Sprintf("%s-%03d", r.name, i+1) }

// support are the texts of users and the agent in one language.
type support struct {
	language, country            string
	refund, order                []string // questions
	days, arrives                []string // answers with a number
	noOrder, noRefund, lostOrder string
	products                     []string
}

func languages() []support {
	return []support{
		{
			"pt-BR", "BR",
			[]string{
				"Até quando posso devolver %s?", "Comprei %s e me arrependi. Qual é o prazo?",
				"Quantos dias tenho para pedir reembolso de %s?",
			},
			[]string{"Cadê o meu pedido %s?", "O pedido %s chega quando?", "Quero saber do pedido %s."},
			[]string{
				"Você tem %d dias para devolver.", "O prazo é de %d dias a partir da entrega.",
				"São %d dias, contados do recebimento.",
			},
			[]string{"Chega em %d dias.", "Está a caminho: faltam %d dias.", "A entrega é daqui a %d dias."},
			"Não encontrei nenhum pedido com esse número. Pode conferir?", "Não encontrei o prazo para esse produto.",
			"Não encontrei informações sobre a entrega.",
			[]string{"um celular", "uma geladeira", "um tênis", "um livro", "um sofá"},
		},
		{
			"es-AR", "AR",
			[]string{
				"¿Hasta cuándo puedo devolver %s?", "Compré %s y me arrepentí. ¿Qué plazo tengo?",
				"¿Cuántos días tengo para pedir el reembolso de %s?",
			},
			[]string{"¿Dónde está mi pedido %s?", "¿Cuándo llega el pedido %s?", "Quiero saber por el pedido %s."},
			[]string{
				"Tenés %d días para devolverlo.", "El plazo es de %d días desde la entrega.",
				"Son %d días, desde que lo recibís.",
			},
			[]string{"Llega en %d días.", "Está en camino: faltan %d días.", "Lo recibís dentro de %d días."},
			"No encontré ningún pedido con ese número. ¿Lo podés revisar?", "No encontré el plazo para ese producto.",
			"No encontré información sobre la entrega.",
			[]string{"un celular", "una heladera", "unas zapatillas", "un libro", "un sillón"},
		},
	}
}

// supportTask makes one task, the same whenever it is asked for.
func supportTask(r release, i int) (ending, []any) {
	rnd := rand.New(rand.NewPCG(uint64(len(r.name)), uint64(i)))
	k, at := right, rnd.IntN(100)
	for at >= r.shares[k] {
		at -= r.shares[k]
		k++
	}
	w := languages()[i%len(languages())]
	number := 3 + rnd.IntN(28)
	said := number
	if k == invented {
		said += 1 + rnd.IntN(15)
	}
	var tool, intent, goal, answer string
	var args, result map[string]any
	if k == nothing || rnd.IntN(2) == 0 {
		order := fmt.Sprintf("A-%04d", 1000+rnd.IntN(9000))
		tool, intent, goal = "get_order@v2", "order", fmt.Sprintf(pick(rnd, w.order), order)
		args, result = map[string]any{"order_id": order}, map[string]any{"order_id": order, "days_left": number}
		answer = fmt.Sprintf(pick(rnd, w.arrives), said)
		if k == nothing {
			result, answer = map[string]any{"order": nil}, w.noOrder
		} else if k == gaveUp {
			answer = w.lostOrder
		}
	} else {
		n := rnd.IntN(len(w.products))
		tool, intent, goal = "get_refund_policy@v3", "refund", fmt.Sprintf(pick(rnd, w.refund), w.products[n])
		args = map[string]any{
			"country":      w.country,
			"product_type": []string{"electronics", "appliances", "shoes", "books", "furniture"}[n],
		}
		result, answer = map[string]any{"window_days": number}, fmt.Sprintf(pick(rnd, w.days), said)
		if k == gaveUp {
			answer = w.noRefund
		}
	}
	name := supportID(r, i)
	return k, []any{
		map[string]any{
			"task_id": name, "turn_id": 1, "call_id": name + "#1#1", "tool": tool, "args": args,
			"result": result, "status": "ok",
		},
		map[string]any{
			"type": "task", "task_id": name, "goal": goal, "final_answer": answer,
			"fields": map[string]any{"language": w.language, "intent": intent},
		},
	}
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }
