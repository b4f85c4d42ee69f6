import { type JsonLimits, parseJson } from './boundedJson.ts'

/** @returns undefined for text that is not JSON or exceeds a limit */
export function parseJsonOrUndefined(text: string, limits?: JsonLimits): unknown {
  try {
    return parseJson(text, limits)
  } catch {
    return undefined
  }
}
