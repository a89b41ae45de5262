package contract

// InstancePath is the path parameter of every operation on an instance, embedded in
// its input. The gate reads it; here it is for the document.
type InstancePath struct {
	InstanceID string `path:"instanceId" doc:"Identifier of the instance." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
}

// Empty is the body {}.
type Empty struct{}

// TextOrNil is the value of a field that is null for an empty text.
func TextOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
