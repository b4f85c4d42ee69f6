const form =
  /^(feat|fix|perf|refactor|docs|test|build|ci|chore|style|revert)(\([a-z0-9, -]+\))?!?: (?<verb>[a-z]+)\b.*[^.]$/
const maxLength = 60
/** Imperatives that match the pattern for other verb forms. */
const imperatives = new Set(
  'need feed seed speed embed proceed shed exceed bring string ring process pass press address access bypass discuss focus'.split(
    ' ',
  ),
)

/** @returns the problem with a commit subject, or undefined if it follows `type(scope): verb object` */
export function findSubjectProblem(subject: string): string | undefined {
  if (subject.length > maxLength) return `${subject.length} characters, at most ${maxLength}`
  const verb = form.exec(subject)?.groups?.verb
  if (verb === undefined) return 'not `type(scope): verb object`'
  if (/(ed|ing|s)$/.test(verb) && !imperatives.has(verb)) return `"${verb}" is not an imperative`
  return undefined
}
