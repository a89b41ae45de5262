// The Python client.

package main

import (
	"fmt"
	"slices"
	"strings"
)

// pythonFiles writes the generated modules of the Python client, by their names.
func pythonFiles(m model) (map[string][]byte, error) {
	p := &pythonFile{model: m}
	p.types()
	files := map[string][]byte{"types.py": []byte(p.text.String())}
	return files, nil
}

const pythonHead = "# Code generated from docs/openapi.yaml. DO NOT EDIT.\n"

// pythonWidth is how many characters a line of a docstring has at most.
const pythonWidth = 100

// pythonFile is a module of the client as it grows.
type pythonFile struct {
	model model
	text  strings.Builder
}

func (p *pythonFile) write(text string, args ...any) { fmt.Fprintf(&p.text, text, args...) }

// docstring writes a docstring. Its paragraphs are divided by an empty line, and what a paragraph
// hangs on itself (arguments) follows it line by line, indented.
func (p *pythonFile) docstring(indent string, paragraphs ...string) {
	var lines []string
	for i, paragraph := range paragraphs {
		if i > 0 {
			lines = append(lines, "")
		}
		for n, text := range strings.Split(paragraph, "\n") {
			text = strings.ReplaceAll(null.ReplaceAllString(text, "None"), `\`, `\\`)
			if n == 0 {
				lines = append(lines, wrapped(text, indent, indent)...)
			} else {
				lines = append(lines, wrapped(text, indent+"    ", indent+"        ")...)
			}
		}
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	switch {
	case len(lines) > 1:
		text += "\n" + indent
	case strings.HasSuffix(text, `"`):
		text = strings.TrimSuffix(text, `"`) + `\"`
	}
	p.write("%s\"\"\"%s\"\"\"\n", indent, text)
}

// wrapped divides a text into lines, with a start for the first and one for the others.
func wrapped(text, first, others string) (lines []string) {
	line := first
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > pythonWidth && line != first {
			lines = append(lines, strings.TrimRight(line, " "))
			line = others
		}
		line += word + " "
	}
	return append(lines, strings.TrimRight(line, " "))
}

// sentence begins with a capital letter and ends in a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// types writes the objects that are asked and answered, and the events.
func (p *pythonFile) types() {
	p.write(pythonHead)
	p.docstring("", "What requests take, what answers carry, and the events.",
		"Newer gateways may send fields, values and kinds of events that are not here: nothing breaks of them.")
	p.write("\nfrom __future__ import annotations\n\n")
	p.write("from collections.abc import Mapping, Sequence\nfrom dataclasses import dataclass\nfrom datetime import datetime\n")
	p.write("from typing import Annotated, Any, Literal\n\n")
	p.write("from ._json import UNSET, Unset\nfrom ._records import Event, EventMediaLink, FieldError, Page\n\n")
	p.write("__all__ = [\n")
	for _, name := range p.exported() {
		p.write("    %q,\n", name)
	}
	p.write("]\n")
	asked := p.asked()
	written := map[string]bool{}
	var write func(o object)
	write = func(o object) {
		if o.name == "" || written[o.name] {
			return
		}
		written[o.name] = true
		for _, base := range append(slices.Clone(o.includes), o.item) { // which a class comes after
			write(p.object(base))
		}
		p.class(o, sentence(strings.TrimPrefix(uses(o, pythonUse), "is ")), asked[o.name])
	}
	for _, o := range p.model.objects {
		write(o)
	}
	for _, e := range p.model.events {
		data := e.data
		data.name = pythonData(e)
		p.class(data, sentence("The data of "+e.name+": "+lowered(e.when)), false)
		p.write("\n\n@dataclass(frozen=True, kw_only=True)\nclass %s(Event):\n", e.name)
		p.docstring("    ", fmt.Sprintf("%s The type is %s.", sentence(e.when), e.kind))
		p.write("\n    data: %s\n", data.name)
	}
	p.write("\n\n# The classes of the types of events.\nEVENT_CLASSES: Mapping[str, type[Event]] = {\n")
	for _, e := range p.model.events {
		p.write("    %q: %s,\n", e.kind, e.name)
	}
	p.write("}\n")
}

// exported lists the names of the module for programs.
func (p *pythonFile) exported() []string {
	names := []string{"Event", "EventMediaLink", "FieldError", "Page", "UNSET", "Unset"}
	for _, o := range p.model.objects {
		names = append(names, o.name)
	}
	for _, e := range p.model.events {
		names = append(names, e.name, pythonData(e))
	}
	slices.Sort(names)
	return names
}

// pythonData is the name of the class of an event's data.
func pythonData(e event) string { return strings.TrimSuffix(e.name, "Event") + "Data" }

// pythonUse names a place that uses an object.
func pythonUse(u use) string {
	switch {
	case u.field != "":
		return u.of + "." + pythonName(u.field)
	case u.role == asPart:
		return u.of
	default:
		return pythonName(u.of)
	}
}

// asked returns the names of the objects that requests have.
func (p *pythonFile) asked() map[string]bool {
	asked := map[string]bool{}
	var note func(name string)
	note = func(name string) {
		if name == "" || asked[name] {
			return
		}
		asked[name] = true
		for _, f := range p.object(name).fields {
			note(innermost(f.kind).object)
		}
	}
	for _, op := range p.model.operations {
		note(op.body)
	}
	return asked
}

// object returns the object of a name; the zero one if there is none.
func (p *pythonFile) object(name string) object {
	for _, o := range p.model.objects {
		if o.name == name {
			return o
		}
	}
	return object{}
}

// class writes the class of an object. Requests have those that are asked.
func (p *pythonFile) class(o object, about string, asked bool) {
	bases := ""
	if parents := slices.Clone(o.includes); len(parents) > 0 || o.item != "" {
		if o.item != "" {
			parents = append(parents, "Page["+o.item+"]")
		}
		bases = "(" + strings.Join(parents, ", ") + ")"
	}
	p.write("\n\n@dataclass(frozen=True, kw_only=True)\nclass %s%s:\n", o.name, bases)
	p.docstring("    ", about)
	if o.item != "" {
		p.write("\n    data: list[%s]\n", o.item)
	}
	blank := o.item == ""
	field := func(name, pythonType, description string) {
		if blank {
			p.write("\n")
			blank = false
		}
		p.write("    %s: %s\n", name, pythonType)
		if description != "" {
			p.docstring("    ", description)
			blank = true
		}
	}
	for _, f := range o.fields {
		given := pythonField(f, asked, "")
		name := pythonName(f.name)
		if camelName(name) != f.name {
			kind, value, found := strings.Cut(given, " = ")
			given = fmt.Sprintf("Annotated[%s, %q]", kind, f.name)
			if found {
				given += " = " + value
			}
		}
		field(name, given, f.description)
	}
	for _, header := range o.answerHeaders {
		field(pythonName(header.name), "bool = False", header.description)
	}
	if o.accepts != "" {
		field("accepted", "bool = False", "Set if the answer is 202: "+lowered(o.accepts))
	}
}

// pythonField is the type of a field, with its default. A request leaves out what is None, unless
// the field may be null.
func pythonField(f field, asked bool, module string) string {
	kind := pythonKind(f.kind, asked, module)
	switch {
	case f.clearable && f.optional:
		return kind + " | None | Unset = UNSET"
	case f.optional && !f.orFile:
		return kind + " | None = None"
	case f.kind.nullable:
		return kind + " | None"
	default:
		return kind
	}
}

// pythonKind is the type of a value, of a class that is in a module or in none. A request may have any
// sequence for a list.
func pythonKind(k kind, asked bool, module string) string {
	list, mapping := "list", "dict"
	if asked {
		list, mapping = "Sequence", "Mapping"
	}
	switch k.base {
	case aTime:
		return "datetime"
	case anInteger:
		return "int"
	case aNumber:
		return "float"
	case aBoolean, aBooleanInText:
		return "bool"
	case aList:
		return list + "[" + pythonKind(*k.element, asked, module) + "]"
	case aMap:
		return mapping + "[str, " + pythonKind(*k.element, asked, module) + "]"
	case anObject:
		return module + k.object
	case anyObject:
		return mapping + "[str, Any]"
	default:
		if len(k.values) == 0 {
			return "str"
		}
		var quoted []string
		for _, value := range k.values {
			quoted = append(quoted, fmt.Sprintf("%q", value))
		}
		return "Literal[" + strings.Join(quoted, ", ") + "]"
	}
}
