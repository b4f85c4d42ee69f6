import { Pencil } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import type { z } from 'zod'
import { joinClassNames } from './classNames.ts'
import { inputClassName } from './Field.tsx'
import { IconButton } from './IconButton.tsx'

type NameFieldProps = {
  name: string
  schema: z.ZodType<string>
  /** Named object, such as `Account 1`. Included in the accessible label to distinguish several fields. */
  of?: string | undefined
  /** Element of the name: a heading of its view, or text in a row. */
  as?: 'h2' | 'h3' | 'span'
  shortcut?: string | undefined
  /** Rejects if the name was not changed. */
  rename: (name: string) => Promise<void>
}

const looks = { h2: 'text-title font-semibold', h3: 'font-semibold', span: 'font-medium' } as const

/** Editable name. Enter saves the new name, Escape discards it. */
export function NameField({ name, schema, of, as: Name = 'h2', shortcut, rename }: NameFieldProps) {
  const errorId = useId()
  const [draft, setDraft] = useState<string>()
  const [wrong, setWrong] = useState<string>()
  const button = useRef<HTMLButtonElement>(null)

  const leave = () => {
    setDraft(undefined)
    setWrong(undefined)
    requestAnimationFrame(() => button.current?.focus())
  }
  const keep = async (written: string) => {
    if (written.trim() === name) return leave()
    const issue = schema.safeParse(written).error?.issues[0]
    if (issue) return setWrong(`The name ${issue.message}.`)
    try {
      await rename(written.trim())
      leave()
    } catch (error) {
      setWrong(error instanceof Error ? error.message : 'Could not rename it.')
    }
  }

  if (draft === undefined) {
    return (
      <div className="group flex min-w-0 items-center gap-1">
        <Name className={joinClassNames('min-w-0 truncate text-text', looks[Name])} title={name}>
          {name}
        </Name>
        <IconButton
          ref={button}
          label={of === undefined ? 'Rename' : `Rename ${of}`}
          icon={Pencil}
          size="small"
          shortcut={shortcut}
          onClick={() => setDraft(name)}
          className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100"
        />
      </div>
    )
  }
  return (
    <form
      noValidate
      className="min-w-0 flex-1"
      onSubmit={(event) => {
        event.preventDefault()
        void keep(draft)
      }}
    >
      <input
        aria-label={of === undefined ? 'Name' : `Name of ${of}`}
        aria-invalid={wrong !== undefined || undefined}
        aria-describedby={wrong === undefined ? undefined : errorId}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && leave()}
        onBlur={() => wrong === undefined && void keep(draft)}
        onFocus={(event) => event.target.select()}
        // The person has just asked to write here.
        // biome-ignore lint/a11y/noAutofocus: the user has just requested to type here
        autoFocus
        spellCheck={false}
        autoComplete="off"
        className={joinClassNames(inputClassName, '-ml-2.5', Name !== 'span' && 'font-semibold')}
      />
      {wrong !== undefined && (
        <p id={errorId} role="alert" className="pt-1 text-small text-negative">
          {wrong}
        </p>
      )}
    </form>
  )
}
