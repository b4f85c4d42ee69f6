import { types } from 'pg'

type ParseText = (text: string) => unknown

/** Object ids of types, fixed by PostgreSQL: https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const parsers: ReadonlyMap<number, ParseText> = new Map<number, ParseText>([
  [16, (text) => (text === 't' ? 1 : 0)], // bool, as SQLite has it
  [20, parseInteger], // int8
  [1700, parseInteger], // numeric, such as the sum of int8
])

/** Returns the parser of a type, so that rows have the values that SQLite gives. */
export function getValueParser(oid: number, format?: 'text' | 'binary'): ParseText {
  return parsers.get(oid) ?? types.getTypeParser(oid, format)
}

/** @returns a number, or a bigint beyond 2^53 */
function parseInteger(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text)
}
