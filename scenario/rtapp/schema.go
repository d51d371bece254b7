package rtapp

import _ "embed" // for the schema

//go:embed whylate.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of scenario files, for editors. It
// outlines rt-app's part and describes "whylate" wholly. It cannot say everything that
// Parse checks, and it speaks of strict JSON.
func Schema() string { return schema }
