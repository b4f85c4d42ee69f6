import type { z } from 'zod'

type Issue = z.core.$ZodIssue

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

/** One sentence about what is wrong with the input, naming the field: "`cols` must be a whole number from 1 to 1000." */
export function describeIssue(issue: Issue, input: unknown): string {
  const field = issue.path.length === 0 ? 'The request' : `\`${issue.path.map(String).join('.')}\``
  if (valueAt(input, issue.path) === undefined && issue.path.length > 0) return `${field} is required.`
  return `${field} ${demandOf(issue)}.`
}

function demandOf(issue: Issue): string {
  const own = issue.message
  if (own.startsWith('must ')) return own
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return `must be ${oneOf(issue.values.map((value) => `\`${String(value)}\``))}`
    case 'too_small':
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${String(issue.minimum)}`
    case 'too_big':
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${String(issue.maximum)}`
    case 'invalid_union':
      return demandOfUnion(issue.errors.flat())
    case 'invalid_key':
      return 'is not a name that is allowed here'
    default:
      return 'has a form that is not allowed'
  }
}

/** The branches of a union fail for different reasons: one that was written for people is the best of them. */
function demandOfUnion(branches: readonly Issue[]): string {
  const written = branches.find((branch) => branch.message.startsWith('must '))
  return written?.message ?? 'has a form that is not allowed'
}

function oneOf(choices: readonly string[]): string {
  return choices.length > 1 ? `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}` : `${choices[0]}`
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}
