// The synchronisation of app state with a client.

package appstate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	wmstate "go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
)

// maxReply and maxReplySize bound the patches of a collection in one reply, by
// number and by bytes. The client asks again for the rest.
const (
	maxReply     = 200
	maxReplySize = 1 << 20
)

// The errors for single collections, as code and text.
const (
	codeConflict = 409
	textConflict = "conflict"
	codeFull     = 419
	textFull     = "resource-limit"
)

// wanted is a client's request for one collection.
type wanted struct {
	name    wmstate.WAPatchName
	version uint64 // which it has
	patch   []byte // which it brings; nil if none
}

// Change is a client's patch that was accepted.
type Change struct {
	Collection string

	// Mutations are what the patch does, as the phone reads it with the account's key.
	// Unreadable says why the phone can't read it; then there are none. The platform has
	// no key, so it accepts such a patch as any other.
	Mutations  []Mutation
	Unreadable error
}

// Sync answers the sync child of a w:sync:app:state request. For each collection it
// returns the patches since the version that the client has, and has_more_patches
// if one reply does not hold them. It accepts a client's patch if the client has
// the newest version; otherwise it answers with a conflict and the missing patches.
// changes are the patches that were accepted: the caller must keep the state
// and notify the account's other devices. The error is ErrRequest if the request is
// malformed, and then nothing has changed.
func (s *State) Sync(key Key, request waBinary.Node) (reply waBinary.Node, changes []Change, err error) {
	// The whole request is read before anything is changed.
	all, err := parseRequest(request)
	if err != nil {
		return waBinary.Node{}, nil, err
	}
	reply = waBinary.Node{Tag: "sync"}
	var answers []waBinary.Node
	for _, want := range all {
		answer, change := s.answer(key, want)
		answers = append(answers, answer)
		if change != nil {
			changes = append(changes, *change)
		}
	}
	reply.Content = answers
	return reply, changes, nil
}

// answer answers for one collection. change is the client's patch if it was accepted.
func (s *State) answer(key Key, want wanted) (answer waBinary.Node, change *Change) {
	if want.patch == nil {
		return s.patches(want, "result"), nil
	}
	if want.version != s.Version(string(want.name)) {
		return refuse(s.patches(want, "error"), codeConflict, textConflict), nil
	}
	change = &Change{Collection: string(want.name)}
	// It is read against the state before it.
	change.Mutations, change.Unreadable = s.collection(want.name).decode(key, want.name, want.patch)
	// The patch has been checked, so it can only fail if the collection is full.
	if err := s.collection(want.name).append(want.patch); err != nil {
		return refuse(s.patches(want, "error"), codeFull, textFull), nil
	}
	// The client does not need the patch that it has sent.
	want.version++
	return s.patches(want, "result"), change
}

// patches returns the collection with the patches that the client lacks.
func (s *State) patches(want wanted, kind string) waBinary.Node {
	var all [][]byte
	if c := s.collections[want.name]; c != nil {
		all = c.Patches
	}
	answer := waBinary.Node{Tag: "collection", Attrs: waBinary.Attrs{
		"name": string(want.name), "type": kind, "version": strconv.Itoa(len(all)),
	}}
	missing := all[min(want.version, uint64(len(all))):]
	if len(missing) == 0 {
		return answer
	}
	var nodes []waBinary.Node
	size := 0
	for _, patch := range missing {
		// One patch is always far below the bound.
		if size += len(patch); len(nodes) == maxReply || size > maxReplySize {
			answer.Attrs["has_more_patches"] = "true"
			break
		}
		nodes = append(nodes, waBinary.Node{Tag: "patch", Content: patch})
	}
	answer.Content = []waBinary.Node{{Tag: "patches", Content: nodes}}
	return answer
}

// refuse adds the reason why a patch was refused.
func refuse(answer waBinary.Node, code int, text string) waBinary.Node {
	reason := waBinary.Node{Tag: "error", Attrs: waBinary.Attrs{"code": strconv.Itoa(code), "text": text}}
	answer.Content = append([]waBinary.Node{reason}, answer.GetChildren()...)
	return answer
}

func parseRequest(request waBinary.Node) ([]wanted, error) {
	if request.Tag != "sync" {
		return nil, fmt.Errorf("%w: %q is no sync", ErrRequest, request.Tag)
	}
	var all []wanted
	for _, node := range request.GetChildrenByTag("collection") {
		want, err := parseWanted(node)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRequest, err)
		}
		if slices.ContainsFunc(all, func(other wanted) bool { return other.name == want.name }) {
			return nil, fmt.Errorf("%w: a collection comes twice", ErrRequest)
		}
		all = append(all, want)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no collection", ErrRequest)
	}
	return all, nil
}

func parseWanted(node waBinary.Node) (wanted, error) {
	name, _ := node.Attrs["name"].(string)
	want := wanted{name: wmstate.WAPatchName(name)}
	if !slices.Contains(wmstate.AllPatchNames[:], want.name) {
		return want, errors.New("unknown collection")
	}
	// A client that wants a snapshot has nothing, and gets all patches.
	if version, ok := node.Attrs["version"].(string); ok && node.Attrs["return_snapshot"] != "true" {
		number, err := strconv.ParseUint(version, 10, 64)
		if err != nil {
			return want, errors.New("the version is no number")
		}
		want.version = number
	}
	if child, ok := node.GetOptionalChildByTag("patch"); ok {
		raw, _ := child.Content.([]byte)
		if _, err := parsePatch(raw); err != nil {
			return want, err
		}
		want.patch = raw
	}
	return want, nil
}
