// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Builder makes the tree of a mapping. Empty values are left out.
type Builder struct {
	Node *Node
	Err  *error // the first value that cannot be written
	// Own writes structs that have forms of their own; false: it did not. It may be nil.
	Own func(b Builder, s *Shape, v reflect.Value) (Node, bool)
}

// NewBuilder makes an empty mapping.
func NewBuilder(own func(b Builder, s *Shape, v reflect.Value) (Node, bool)) Builder {
	return Builder{&Node{Kind: Map}, new(error), own}
}

// Put adds a key.
func (b Builder) Put(key string, v Node) {
	b.Node.Names = append(b.Node.Names, Entry{Name: key})
	b.Node.Items = append(b.Node.Items, v)
}

// Child is a builder of an empty mapping for the same file.
func (b Builder) Child() Builder { return Builder{&Node{Kind: Map}, b.Err, b.Own} }

// Str adds a text that is not empty.
func (b Builder) Str(key, s string) {
	if s != "" {
		b.Put(key, TextNode(s))
	}
}

// True adds a key that is true.
func (b Builder) True(key string) { b.Put(key, Node{Kind: Bool, Raw: []byte("true")}) }

// JSON adds a value; nil: none.
func (b Builder) JSON(key string, raw json.RawMessage) {
	if raw == nil {
		return
	}
	d, bad := ReadJSON("", raw)
	if bad != nil {
		*b.Err = fmt.Errorf("%s holds %s: %w", key, Clip(string(raw), 40), bad)
		return
	}
	b.Put(key, d.Root)
}

// TextNode is a text.
func TextNode(s string) Node { return Node{Kind: String, Raw: Quote(nil, s)} }

// Keys writes the keys of a struct in the order of the schema. own may be nil; it writes keys
// differently, or omits them, and returns whether it handled the key.
func (b Builder) Keys(s *Shape, v reflect.Value, own func(key string) bool) Builder {
	for i := range s.Keys {
		k := &s.Keys[i]
		switch {
		case own != nil && own(k.Name):
		case k.Flat:
			if c := b.Child().Keys(k.Shape, v, nil); len(c.Node.Items) > 0 {
				b.Put(k.Name, *c.Node)
			}
		case k.written:
			if field := v.FieldByIndex(k.Field); !empty(field, k.tag) {
				b.field(k, field)
			}
		}
	}
	return b
}

// empty reports whether a value is left out. Numbers that a noun always has are not empty, nor
// lists that have a meaning when they are empty.
func empty(v reflect.Value, tag string) bool {
	switch v.Kind() {
	case reflect.Map:
		return v.Len() == 0
	case reflect.Slice:
		return v.IsNil() || v.Len() == 0 && tag == "omitempty" && v.Type().Elem().Kind() == reflect.Struct
	case reflect.Float64:
		return v.IsZero() && tag != ""
	}
	return v.IsZero()
}

func (b Builder) field(k *Key, v reflect.Value) {
	inline := v.Kind() == reflect.Struct
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if raw, ok := v.Interface().(json.RawMessage); ok {
		b.JSON(k.Name, raw)
		return
	}
	if names, ok := v.Interface().([]string); ok && k.Name == "tool" && len(names) == 1 {
		b.Put(k.Name, TextNode(names[0]))
		return
	}
	if n := b.Value(k.Shape, v); !inline || len(n.Items) > 0 {
		b.Put(k.Name, n)
	}
}

// Value is a value that is no pointer.
func (b Builder) Value(s *Shape, v reflect.Value) Node {
	switch v.Kind() {
	case reflect.String:
		return TextNode(v.String())
	case reflect.Slice:
		n := Node{Kind: List}
		for i := range v.Len() {
			n.Items = append(n.Items, b.Value(s.Elem, v.Index(i)))
		}
		return n
	case reflect.Map:
		c := b.Child()
		names := v.MapKeys()
		slices.SortFunc(names, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		for _, name := range names {
			c.Put(name.String(), b.Value(s.Elem, v.MapIndex(name)))
		}
		return *c.Node
	case reflect.Struct:
		if b.Own != nil {
			if n, ok := b.Own(b, s, v); ok {
				return n
			}
		}
		return *b.Child().Keys(s, v, nil).Node
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		*b.Err = err
	}
	if v.Kind() == reflect.Bool {
		return Node{Kind: Bool, Raw: raw}
	}
	return Node{Kind: Number, Raw: raw}
}
