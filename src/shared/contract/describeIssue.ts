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

/** Describes an invalid input as a sentence with the field name: "`cols` must be a whole number from 1 to 1000." */
export function describeIssue(issue: Issue, input: unknown): string {
  const field = issue.path.length === 0 ? 'The request' : `\`${issue.path.map(String).join('.')}\``
  if (getValue(input, issue.path) === undefined && issue.path.length > 0) return `${field} is required.`
  return `${field} ${describeDemand(issue)}.`
}

function describeDemand(issue: Issue): string {
  const customMessage = issue.message
  if (customMessage.startsWith('must ')) return customMessage
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return `must be ${describeOptions(issue.values)}`
    case 'too_small':
      return describeMinimum(issue)
    case 'too_big':
      return describeMaximum(issue)
    case 'invalid_union':
      return describeUnion(issue)
    case 'unrecognized_keys':
      return `has no field ${describeOptions(issue.keys)}`
    case 'invalid_key':
      return 'is not a name that is allowed here'
    default:
      return 'has a form that is not allowed'
  }
}

/** Units of length in messages. Numbers have no unit. */
const counted: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' }

function describeMinimum({ origin, minimum, inclusive }: z.core.$ZodIssueTooSmall): string {
  const parts = counted[origin]
  if (parts === undefined) return `must be ${inclusive === false ? 'more than' : 'at least'} ${minimum}`
  return minimum === 1 ? 'must not be empty' : `must have at least ${minimum} ${parts}`
}

function describeMaximum({ origin, maximum, inclusive }: z.core.$ZodIssueTooBig): string {
  const parts = counted[origin]
  if (parts === undefined) return `must be ${inclusive === false ? 'less than' : 'at most'} ${maximum}`
  return `must have at most ${maximum} ${parts}`
}

/** Branches of a union fail for different reasons. Prefers a custom message. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion): string {
  if ('options' in issue && issue.options) return `must be ${describeOptions(issue.options)}`
  const written = issue.errors.flat().find((branch) => branch.message.startsWith('must '))
  return written?.message ?? 'has a form that is not allowed'
}

function describeOptions(values: readonly unknown[]): string {
  const choices = values.map((value) => `\`${String(value)}\``)
  return choices.length > 1 ? `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}` : `${choices[0]}`
}

function getValue(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}
