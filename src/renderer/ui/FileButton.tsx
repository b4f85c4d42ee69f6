import type { LucideIcon } from 'lucide-react'
import { useRef } from 'react'
import { Button } from './Button.tsx'

type FileButtonProps = {
  label: string
  icon?: LucideIcon
  size?: 'small' | 'medium'
  /** As of `<input type="file">`: `application/json,.json`. Absent: any. */
  accept?: string
  onFile: (file: File) => void
}

/** Lets the person choose one file of their machine. */
export function FileButton({ label, icon, size = 'medium', accept, onFile }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button size={size} {...(icon && { icon })} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        aria-label={label}
        tabIndex={-1}
        hidden
        {...(accept !== undefined && { accept })}
        onChange={({ target }) => {
          const [file] = target.files ?? []
          target.value = '' // so that the same file can be chosen again
          if (file) onFile(file)
        }}
      />
    </>
  )
}
