// Porcupine on histories that `raddle-bench lin --only whole --write FOLDER` makes, as a whole process: reads JSON lines, checks, and prints `holds`, `violated` or `unknown`. Every
// operation must have returned.
//
//	cd bench/peers/porcupine
//	go mod init porcupine-lin && go get github.com/anishathalye/porcupine && go build
//	./porcupine-lin queue FILE SECONDS
//
// States are texts, so that comparing and hashing them is cheap, and models tell their hashes. Maps are divided by keys and sets by values.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"os"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

type line struct {
	Process json.RawMessage `json:"process"`
	Type    string          `json:"type"`
	F       string          `json:"f"`
	Key     string          `json:"key"`
	Value   json.RawMessage `json:"value"`
}

type input struct {
	f, key, value, other string
}

var seed = maphash.MakeSeed()

func hash(state interface{}) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(state.(string))
	return h.Sum64()
}

// A text with its length before it, so that a sequence of them is a text.
func wrap(value string) string {
	return strconv.Itoa(len(value)) + ":" + value
}

func head(state string) (string, string) {
	at := 0
	for state[at] != ':' {
		at++
	}
	size, _ := strconv.Atoi(state[:at])
	return state[at+1 : at+1+size], state[at+1+size:]
}

// The same from behind: texts are followed by their lengths on a stack.
func last(state string) (string, string) {
	at := len(state) - 1
	for state[at] != ':' {
		at--
	}
	size, _ := strconv.Atoi(state[at+1:])
	return state[at-size : at], state[:at-size]
}

func step(state, in, out interface{}) (bool, interface{}) {
	now, op, said := state.(string), in.(input), out.(string)
	switch op.f {
	case "enqueue":
		return true, now + wrap(op.value)
	case "dequeue":
		if now == "" {
			return said == "null", now
		}
		first, rest := head(now)
		return first == said, rest
	case "push":
		return true, now + op.value + ":" + strconv.Itoa(len(op.value))
	case "pop":
		if now == "" {
			return said == "null", now
		}
		top, rest := last(now)
		return top == said, rest
	case "write", "put":
		return true, op.value
	case "read", "get":
		return now == said || (now == "" && (said == "null" || said == `""`)), now
	case "append":
		return true, now + op.value
	case "cas":
		if now == op.value {
			return said == "true", op.other
		}
		return said == "false", now
	case "add":
		return said == strconv.FormatBool(now == ""), "in"
	case "remove":
		return said == strconv.FormatBool(now != ""), ""
	case "contains":
		return said == strconv.FormatBool(now != ""), now
	}
	panic("unknown method " + op.f)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func pair(raw json.RawMessage) (string, string) {
	var two []json.RawMessage
	fail(json.Unmarshal(raw, &two))
	return string(two[0]), string(two[1])
}

func text(raw json.RawMessage) string {
	var value string
	if json.Unmarshal(raw, &value) == nil && raw[0] == '"' {
		return value
	}
	return string(raw)
}

func main() {
	kind := os.Args[1]
	file, err := os.Open(os.Args[2])
	fail(err)
	seconds, err := strconv.Atoi(os.Args[3])
	fail(err)
	scanner := bufio.NewScanner(file)
	scanner.Buffer(make([]byte, 1<<20), 1<<28)
	open := map[string]int{}
	var ops []porcupine.Operation
	clock := int64(0)
	for scanner.Scan() {
		var event line
		fail(json.Unmarshal(scanner.Bytes(), &event))
		clock++
		process := string(event.Process)
		if event.Type == "invoke" {
			in := input{f: event.F, key: event.Key, value: text(event.Value)}
			if event.F == "cas" {
				in.value, in.other = pair(event.Value)
			}
			if kind == "set" {
				in.key = in.value
			}
			open[process] = len(ops)
			ops = append(ops, porcupine.Operation{Input: in, Call: clock, Output: "", Return: 1 << 62})
			continue
		}
		said := text(event.Value)
		if kind == "set" || event.F == "cas" {
			_, said = pair(event.Value)
		}
		at := open[process]
		delete(open, process)
		ops[at].Output, ops[at].Return = said, clock
	}
	fail(scanner.Err())
	if len(open) > 0 {
		fail(fmt.Errorf("%d operations have not returned", len(open)))
	}
	model := porcupine.Model{Init: func() interface{} { return "" }, Step: step, Hash: hash}
	if kind == "map" || kind == "set" {
		model.Partition = func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[string][]porcupine.Operation{}
			for _, op := range history {
				key := op.Input.(input).key
				parts[key] = append(parts[key], op)
			}
			var all [][]porcupine.Operation
			for _, part := range parts {
				all = append(all, part)
			}
			return all
		}
	}
	switch porcupine.CheckOperationsTimeout(model, ops, time.Duration(seconds)*time.Second) {
	case porcupine.Ok:
		fmt.Println("holds")
	case porcupine.Illegal:
		fmt.Println("violated")
	default:
		fmt.Println("unknown")
	}
}
