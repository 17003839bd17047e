module { no.such_operation }
