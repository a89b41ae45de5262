package phonenumber

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
)

//nolint:gochecknoglobals // flags of a test are registered before it runs
var update = flag.Bool("update", false, "write the numbering plan anew")

// TestPlanIsTheLibrarys holds the plan against what the library would make of it.
func TestPlanIsTheLibrarys(t *testing.T) {
	t.Parallel()
	made := planOf(t)
	if *update {
		if err := os.WriteFile("plan.txt", []byte(made), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if made != plan {
		t.Error("the numbering plan is not that of the library: go test ./internal/sandbox/phonenumber -run Plan -update")
	}
}

// TestPlanReadsAsTheLibrary compares what is said of numbers that exist, of those close to them and of any digits. The library
// also takes numbers with what is dialled before them within their country; the plan doesn't, since no phone has such a number.
func TestPlanReadsAsTheLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) // the same numbers each time
	valid, invalid := 0, 0
	compare := func(digits string) {
		if len(digits) < minDigits || len(digits) > maxDigits {
			return
		}
		number, err := phonenumbers.Parse("+"+digits, "")
		want := err == nil && phonenumbers.IsValidNumber(number) && phonenumbers.Format(number, phonenumbers.E164) == "+"+digits
		if got := inPlan(digits); got != want {
			t.Errorf("%s is in the plan: %t, want %t", digits, got, want)
		}
		if want {
			valid++
		} else {
			invalid++
		}
	}
	for _, region := range metadata(t) {
		for _, kind := range kindsOf(region) {
			example := fmt.Sprint(region.GetCountryCode()) + kind.GetExampleNumber()
			compare(example)
			compare(example[:len(example)-1])
			compare(example + "5")
			for range 20 {
				near := []byte(example)
				for range 1 + random.IntN(3) {
					near[random.IntN(len(near))] = byte('0' + random.IntN(10))
				}
				compare(string(near))
			}
		}
	}
	for range 20_000 {
		compare(fmt.Sprint(random.Int64N(1e15)))
	}
	if valid < 10_000 || invalid < 10_000 {
		t.Errorf("only %d numbers that exist were compared, and %d that don't", valid, invalid)
	}
}

// planOf writes the plan of the library as lines.
func planOf(t *testing.T) string {
	t.Helper()
	var lines strings.Builder
	regions := metadata(t)
	look := func(desc *phonenumbers.PhoneNumberDesc) string {
		return "\t" + strings.ReplaceAll(strings.Trim(fmt.Sprint(desc.GetPossibleLength()), "[]"), " ", ",") + ":" + desc.GetNationalNumberPattern()
	}
	for code := int32(1); code < 1000; code++ {
		ids := phonenumbers.GetRegionCodesForCountryCode(int(code))
		for _, id := range ids {
			at := slices.IndexFunc(regions, func(region *phonenumbers.PhoneMetadata) bool {
				return region.GetId() == id && region.GetCountryCode() == code
			})
			if at < 0 {
				t.Fatalf("the library has no plan of %s", id)
			}
			fmt.Fprintf(&lines, "%d\t", code)
			if len(ids) > 1 {
				lines.WriteString(regions[at].GetLeadingDigits())
			}
			lines.WriteString(look(regions[at].GetGeneralDesc()))
			for _, kind := range kindsOf(regions[at]) {
				lines.WriteString(look(kind))
			}
			lines.WriteString("\n")
		}
	}
	return lines.String()
}

func metadata(t *testing.T) []*phonenumbers.PhoneMetadata {
	t.Helper()
	all, err := phonenumbers.MetadataCollection()
	if err != nil {
		t.Fatal(err)
	}
	return all.GetMetadata()
}

// kindsOf are the kinds of numbers that a region has, each once.
func kindsOf(region *phonenumbers.PhoneMetadata) []*phonenumbers.PhoneNumberDesc {
	const none = "NA" // is its pattern where a region has no such numbers
	var kinds []*phonenumbers.PhoneNumberDesc
	for _, kind := range []*phonenumbers.PhoneNumberDesc{
		region.GetMobile(), region.GetFixedLine(), region.GetTollFree(), region.GetPremiumRate(), region.GetSharedCost(),
		region.GetVoip(), region.GetPersonalNumber(), region.GetPager(), region.GetUan(), region.GetVoicemail(),
	} {
		same := func(other *phonenumbers.PhoneNumberDesc) bool {
			return other.GetNationalNumberPattern() == kind.GetNationalNumberPattern()
		}
		if kind.GetNationalNumberPattern() != none && kind.GetNationalNumberPattern() != "" && !slices.ContainsFunc(kinds, same) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
