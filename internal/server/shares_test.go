package server_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/testkit"
)

// measured returns the value of a metric of a gateway; -1 if there is none.
func measured(t *testing.T, g *testkit.Gateway, series string) float64 {
	t.Helper()
	response, err := http.Get(g.Server.AdminURL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if text, ok := strings.CutPrefix(line, series+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	return -1
}

// What is uploaded on the dashboard counts as what is sent to the API, and is held on the disk.
func TestUploadsOfTheDashboardAreCounted(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	g, id := testkit.StartLinked(t, testkit.Options{Admin: true, Media: media.Config{MaxBytes: size}, Limits: api.Limits{Bodies: 1}})
	v := newOwner(t, g)
	upload := func() (into io.Writer, finish func() (status int, retry string)) {
		from, to := io.Pipe()
		form := multipart.NewWriter(to)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.BaseURL+"/instances/"+id+"/messages", from)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", form.FormDataContentType())
		answered, retry := make(chan int, 1), ""
		go func() {
			response, err := v.web.Do(request)
			if err != nil {
				t.Error(err)
				answered <- 0
				return
			}
			_ = errors.Join(response.Body.Close(), from.Close())
			retry = response.Header.Get("Retry-After")
			answered <- response.StatusCode // after retry, which is read after it
		}()
		err = errors.Join(form.WriteField("to", customerNumber), form.WriteField("kind", "document"))
		part, formErr := form.CreateFormFile("file", "prices.txt")
		if err = errors.Join(err, formErr); err != nil {
			t.Fatal(err)
		}
		return part, func() (int, string) {
			_ = errors.Join(form.Close(), to.Close()) // the answer may have come before
			return <-answered, retry
		}
	}
	file := bytes.Repeat([]byte("a line of prices"), size/16)
	const held = `recado_shared_held{pool="bodies"}`
	var finish []func() (int, string)
	limit := measured(t, g, `recado_shared_limit{pool="bodies"}`)
	for n := 1; float64((n+1)*size) < limit*9/16; n++ {
		into, done := upload()
		if _, err := into.Write(file); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, "the file to be counted", func() bool { return measured(t, g, held) >= float64(n*size) })
		finish = append(finish, done)
	}
	account, err := g.Server.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if got := measured(t, g, `recado_shared_held_by_account{account="`+account.ID+`",pool="bodies"}`); got < float64(len(finish)*size) {
		t.Errorf("the account is said to hold %.0f bytes", got)
	}
	for range 2 { // one of them is too many in any case
		into, done := upload()
		_, _ = into.Write(file)
		finish = append(finish, done)
	}
	refused := 0
	for _, done := range finish {
		switch status, retry := done(); {
		case status == http.StatusServiceUnavailable && retry == "1":
			refused++
		case status != http.StatusOK:
			t.Errorf("answered %d, Retry-After %q", status, retry)
		}
	}
	if refused == 0 || refused > 2 {
		t.Errorf("%d were refused", refused)
	}
	testkit.Await(t, "nothing to be held", func() bool { return measured(t, g, held) == 0 })
}

// A user has as many live pages as a key has streams, and whoever has no more is told when to come back.
func TestLivePagesOfAUserAreLimited(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Admin: true, Limits: api.Limits{Streams: 3}})
	v := newOwner(t, g)
	open := func(n int) (status int, retry string, leave func() error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.BaseURL+"/instances/"+id+"/chats/live?search=a"+strconv.Itoa(n), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := v.web.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response.StatusCode, response.Header.Get("Retry-After"), response.Body.Close
	}
	status, _, leave := open(0)
	for n := 1; n < 3 && status == http.StatusOK; n++ {
		status, _, _ = open(n)
	}
	if status != http.StatusOK {
		t.Fatalf("a page is answered %d", status)
	}
	if status, retry, _ := open(3); status != http.StatusTooManyRequests || retry != "5" {
		t.Errorf("one too many is answered %d, Retry-After %q", status, retry)
	}
	if status, _, _ := v.get("/instances/" + id + "/chats"); status != http.StatusOK {
		t.Errorf("a page that is not live is answered %d", status)
	}
	if got := measured(t, g, `recado_shared_held{pool="streams"}`); got != 3 {
		t.Errorf("%.0f streams are counted", got)
	}
	_ = leave()
	testkit.Await(t, "room for another page", func() bool {
		status, _, _ := open(4)
		return status == http.StatusOK
	})
}
