import { Pencil } from 'lucide-react'
import { useRef, useState } from 'react'
import { SandboxName } from '../../../../../shared/contract/sandboxes.ts'
import { inputLook } from '../../../../ui/Field.tsx'
import { IconButton } from '../../../../ui/IconButton.tsx'

type NameFieldProps = {
  name: string
  /** Rejects with why it stays. */
  rename: (name: string) => Promise<void>
}

/** The name, which becomes a field to be written over: Enter keeps it, Escape leaves it as it was. */
export function NameField({ name, rename }: NameFieldProps) {
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
    const issue = SandboxName.safeParse(written).error?.issues[0]
    if (issue) return setWrong(`The name ${issue.message}.`)
    try {
      await rename(written.trim())
      leave()
    } catch (failure) {
      setWrong(failure instanceof Error ? failure.message : 'It could not be renamed.')
    }
  }

  if (draft === undefined) {
    return (
      <div className="group flex min-w-0 items-center gap-1">
        <h2 className="min-w-0 truncate text-title font-semibold text-text" title={name}>
          {name}
        </h2>
        <IconButton
          ref={button}
          label="Rename"
          icon={Pencil}
          size="small"
          shortcut="f2"
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
        aria-label="Name"
        aria-invalid={wrong !== undefined || undefined}
        aria-describedby={wrong === undefined ? undefined : 'rename-error'}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && leave()}
        onBlur={() => wrong === undefined && void keep(draft)}
        onFocus={(event) => event.target.select()}
        // The person has just asked to write here.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        spellCheck={false}
        autoComplete="off"
        className={`${inputLook} -ml-2.5 font-semibold`}
      />
      {wrong !== undefined && (
        <p id="rename-error" role="alert" className="pt-1 text-small text-negative">
          {wrong}
        </p>
      )}
    </form>
  )
}
