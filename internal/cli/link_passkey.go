// Linking of an account that asks for a passkey, step by step.

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/gateway"
)

// askPasskey says what is to be done for the platform's question for a passkey, each step
// once, and reports whether it is open.
func (l *linking) askPasskey(ctx context.Context) (open bool, err error) {
	question, err := l.gateway.GetPasskey(ctx, l.id)
	if err != nil {
		return false, err
	}
	open = question.State == "requested" || question.State == "confirm"
	if question.State == l.passkey.State && string(question.Request) == string(l.passkey.Request) && question.Confirmed == l.passkey.Confirmed {
		return open, nil
	}
	l.passkey = question
	if l.t.JSON {
		if question.State == "none" {
			return open, nil
		}
		return open, l.t.Print(question, "")
	}
	switch {
	case question.State == "requested":
		l.t.Printf("The account asks for a passkey, %s.\n"+
			"1. Open %s in a browser that has it, and its console (F12).\n"+
			"2. Paste this line, and unlock the passkey:\n\n%s\n\n"+
			"3. Paste here what it has copied, and press Enter:\n",
			l.expiry(question.ExpiresAt), pageOf(question.Request), terminal.Cleaned(gateway.PasskeySnippet(question.Request)))
		l.listen()
	case question.State == "confirm" && !question.Confirmed:
		l.t.Printf("The phone shows a code. If it is %s, say so on the phone, and press Enter here.\n", terminal.Cleaned(question.Code))
		l.listen()
	case question.State == "failed":
		l.t.Printf("Not linked: %s.\n", terminal.Cleaned(question.Reason))
	}
	return open, nil
}

// pageOf is where a request is signed.
func pageOf(request json.RawMessage) string {
	if page := gateway.PasskeyPage(request); page != "" {
		return page
	}
	return "a page of " + terminal.Cleaned(gateway.PasskeyName(request))
}

// reply hands the gateway what somebody has typed. What is wrong is said, and can be typed
// again.
func (l *linking) reply(ctx context.Context, line string) {
	var err error
	switch {
	case l.passkey.State == "confirm":
		err = l.gateway.ConfirmPasskey(ctx, l.id)
	case line == "":
		return
	default:
		var answer client.PasskeyAnswer
		if json.Unmarshal([]byte(line), &answer) != nil {
			err = errors.New("this is not what the browser has copied: it begins with { and ends with }")
			break
		}
		err = l.gateway.AnswerPasskey(ctx, l.id, answer)
	}
	if err != nil {
		l.t.Notef("%v", err)
	}
}

// listen begins to read lines. The reader ends with the program: nobody can take a line back
// from a terminal.
func (l *linking) listen() {
	if l.typed != nil {
		return
	}
	lines := make(chan string)
	l.typed = lines
	go func() {
		// What a browser signs has some hundred bytes; a terminal in its usual mode cuts
		// a line at 4,096.
		scanner := bufio.NewScanner(io.LimitReader(l.t.In, 1<<20))
		scanner.Buffer(nil, 1<<16)
		for scanner.Scan() {
			lines <- strings.TrimSpace(scanner.Text())
		}
	}()
}
