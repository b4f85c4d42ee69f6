throw new Error('electron is only for the tests of the shell.')
