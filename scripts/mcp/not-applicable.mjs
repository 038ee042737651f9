/**
 * The parts of the suite that can't apply to a server of skills, and why. Many call tools, prompts and resources that
 * only the suite's own example server has; the others concern optional parts of the protocol that this server doesn't
 * declare. An entry is a scenario, or one check of it as `scenario:check`. An entry that passes is out of date, and
 * fails the task.
 */

/** @param {string} kind @param {string} name */
const fixture = (kind, name) => `calls the ${kind} \`${name}\` of the suite's own example server`;

const NO_COMPLETIONS = "the capability `completions` is optional and not declared";
const NO_LOGGING = "the capability `logging` is optional and not declared";
const NO_SUBSCRIBE = "the capability `resources.subscribe` is optional and not declared";
const ASKS_NOTHING =
  "no tool here asks the client for input; that needs a tool of the suite's own example server";

/** @type {Readonly<Record<string, string>>} */
export const NOT_APPLICABLE = {
  "completion-complete": NO_COMPLETIONS,
  "logging-set-level": NO_LOGGING,
  "resources-subscribe": NO_SUBSCRIBE,
  "resources-unsubscribe": NO_SUBSCRIBE,
  "tools-call-simple-text": fixture("tool", "test_simple_text"),
  "tools-call-image": fixture("tool", "test_image_content"),
  "tools-call-audio": fixture("tool", "test_audio_content"),
  "tools-call-embedded-resource": fixture("tool", "test_embedded_resource"),
  "tools-call-mixed-content": fixture("tool", "test_multiple_content_types"),
  "tools-call-with-logging": NO_LOGGING,
  "tools-call-error": fixture("tool", "test_error_handling"),
  "tools-call-with-progress": fixture("tool", "test_tool_with_progress"),
  "tools-call-sampling": fixture("tool", "test_sampling"),
  "tools-call-elicitation": fixture("tool", "test_elicitation"),
  "elicitation-sep1034-defaults": fixture("tool", "test_elicitation_sep1034_defaults"),
  "elicitation-sep1330-enums": fixture("tool", "test_elicitation_sep1330_enums"),
  "json-schema-2020-12": fixture("tool", "json_schema_2020_12_tool"),
  "resources-read-text": fixture("resource", "test://static-text"),
  "resources-read-binary": fixture("resource", "test://static-binary"),
  "resources-templates-read": fixture("resource", "test://template/{id}/data"),
  "prompts-get-simple": fixture("prompt", "test_simple_prompt"),
  "prompts-get-with-args": fixture("prompt", "test_prompt_with_arguments"),
  "prompts-get-embedded-resource": fixture("prompt", "test_prompt_with_embedded_resource"),
  "prompts-get-with-image": fixture("prompt", "test_prompt_with_image"),
  "http-custom-header-server-validation": "no tool here takes a parameter from a header (`x-mcp-header`)",
  "server-stateless:sep-2575-server-rejects-undeclared-capability": ASKS_NOTHING,
  "server-stateless:sep-2575-missing-capability-http-400": ASKS_NOTHING,
  "server-stateless:sep-2575-http-server-no-independent-requests-on-stream": ASKS_NOTHING,
  "server-stateless:sep-2575-server-no-log-without-loglevel": NO_LOGGING,
  "input-required-result-basic-elicitation": ASKS_NOTHING,
  "input-required-result-basic-sampling": ASKS_NOTHING,
  "input-required-result-basic-list-roots": ASKS_NOTHING,
  "input-required-result-request-state": ASKS_NOTHING,
  "input-required-result-multiple-input-requests": ASKS_NOTHING,
  "input-required-result-multi-round": ASKS_NOTHING,
  "input-required-result-non-tool-request": ASKS_NOTHING,
  "input-required-result-result-type": ASKS_NOTHING,
  "input-required-result-tampered-state": ASKS_NOTHING,
  "input-required-result-capability-check": ASKS_NOTHING,
};
